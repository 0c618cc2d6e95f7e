import { describe, expect, it } from 'vitest';
import type { AssistantMessage, Message } from '../../trajectory/message.js';
import type { LearnedTokens, StopReason, Trajectory, TrajectoryNode } from '../../trajectory/trajectory.js';
import type { RunConfig } from '../run/runRecord.js';
import { settingsSchema, type SettingsInput } from '../run/settings.js';
import type { EvaluationEvent, StepEvent } from './detector.js';
import { Doctor } from './doctor.js';
import { failureModes, type Finding } from './finding.js';

const at = '2026-01-01T00:00:00.000Z';
const config: RunConfig = {
  version: 1,
  runId: 'r',
  createdAt: at,
  repoRoot: '/r',
  headCommit: 'c',
  settings: settingsSchema.parse({ steps: 10 }),
  taskIds: { train: ['a', 'b'], heldout: ['h'] },
  sandbox: 'bubblewrap',
};

const call = (name: string, given: Record<string, unknown>): AssistantMessage => ({
  role: 'assistant',
  content: '',
  toolCalls: [{ id: name, name, arguments: given }],
  raw: name,
});
const answer = (content: string): Message => ({ role: 'tool', toolCallId: 'x', name: 'open', content });

/** Three tokens a message, sampled where the assistant speaks. */
function nodesOf(messages: readonly Message[]): TrajectoryNode[] {
  return messages.map((message, index) => {
    const sampled = message.role === 'assistant';
    return {
      parent: index === 0 ? null : index - 1,
      message,
      tokenIds: Int32Array.of(1, 2, 3),
      actionMask: new Uint8Array(3).fill(sampled ? 1 : 0),
      logprobs: new Float32Array(3).fill(sampled ? -0.5 : NaN),
      entropies: new Float32Array(3).fill(sampled ? 0.4 : NaN),
    };
  });
}

const healthyMessages: Message[] = [
  { role: 'user', content: 'mend' },
  call('open', { path: 'a.js' }),
  answer('one'),
  call('open', { path: 'b.js' }),
  answer('two'),
  call('submit', {}),
];
const counts = { turns: 3, toolCalls: {}, malformedCalls: 0, unknownTools: 0, invalidArguments: 0, validCalls: 3 };

function rollout(id: string, step: number, changes: Partial<Trajectory> = {}): Trajectory {
  return {
    id,
    kind: 'rollout',
    step,
    taskId: 'a',
    split: 'train',
    sample: 0,
    seed: 1,
    temperature: 1,
    policyStep: step - 1,
    sandbox: 'bubblewrap',
    nodes: nodesOf(healthyMessages),
    stopReason: 'submitted',
    infrastructureError: null,
    grade: { reward: 1, resolved: true, components: {}, tests: [], files: [{ path: 'a.js', ratio: 0.5 }] },
    patch: '--- a/a.js\n+++ b/a.js\n-return a;\n+return b;\n',
    statistics: { ...counts, sampledTokens: 9, totalTokens: 18, seconds: 1 },
    ...changes,
  };
}

function learnedOf({ id, step, nodes }: Trajectory): LearnedTokens {
  const mask = nodes.flatMap(({ actionMask }) => [...actionMask]);
  return {
    trajectoryId: id,
    step,
    advantages: Float32Array.from(mask),
    learnerLogprobs: new Float32Array(mask.length),
    referenceLogprobs: new Float32Array(mask.length),
    coefficients: Float32Array.from(mask, (bit) => -0.1 * bit),
  };
}

const healthyMetrics = (step: number): Record<string, number> => ({
  reward: 0.2 + 0.02 * step,
  success: 0.1 + 0.02 * step,
  frac_reward_zero_std: 0.25,
  entropy: 0.5 - 0.01 * step,
  'completions/mean_length': 100 + step,
  'rollouts/infrastructure_failures': 0,
  kl: 0.001 * step,
  grad_norm: 1 + 0.1 * (step % 3),
  'updates/made': 1,
  'sampling/sampling_logp_difference/mean': 1e-6,
  'sampling/sampling_logp_difference/max': 1e-5,
});

interface Symptoms {
  readonly method?: (step: number) => StepEvent['method'];
  readonly metrics?: (step: number) => Record<string, number>;
  readonly rollouts?: (step: number) => Trajectory[];
  readonly learned?: (trajectory: Trajectory) => LearnedTokens | null;
  readonly evaluations?: readonly [number, readonly [number, number]][];
  readonly taskId?: string;
}

function examine(symptoms: Symptoms, steps = 12, settings: SettingsInput = {}): Finding[] {
  const doctor = new Doctor({ ...config, settings: settingsSchema.parse({ steps: 10, ...settings }) });
  const evaluations = symptoms.evaluations ?? [
    [0.1, [0.03, 0.3]],
    [0.2, [0.08, 0.4]],
  ];
  const evaluate = (index: number, step: number) => {
    const [rate, interval] = evaluations[index];
    const event: EvaluationEvent = {
      at,
      type: 'evaluation',
      step,
      split: 'heldout',
      success: { rate, interval, n: 20 },
      meanReward: 0,
      validCallRate: 1,
      trajectoryIds: ['e'],
    };
    doctor.onEvaluation(event);
  };
  evaluate(0, 0);
  for (let step = 1; step <= steps; step++) {
    const rollouts = symptoms.rollouts?.(step) ?? [rollout(`s${step}/0`, step), rollout(`s${step}/1`, step)];
    for (const one of rollouts) doctor.onTrajectory(one, symptoms.learned ? symptoms.learned(one) : learnedOf(one));
    const event: StepEvent = {
      at,
      type: 'step',
      step,
      method: symptoms.method?.(step),
      metrics: { ...healthyMetrics(step), ...symptoms.metrics?.(step) },
      groups: [{ taskId: symptoms.taskId ?? 'a', trajectoryIds: rollouts.map(({ id }) => id), advantages: [1, -1] }],
    };
    doctor.onStep(event);
  }
  evaluate(1, steps);
  return doctor.findings();
}

/** Metrics of one step alone. */
const inStep =
  (sickStep: number, metrics: Record<string, number>) =>
  (step: number): Record<string, number> =>
    step === sickStep ? metrics : {};
const both = (make: (id: string, step: number) => Trajectory) => (step: number) => [
  make(`s${step}/0`, step),
  make(`s${step}/1`, step),
];
const withStatistics = (more: Partial<Trajectory['statistics']>) =>
  both((id, step) => rollout(id, step, { statistics: { ...rollout(id, step).statistics, ...more } }));
const patched = (line: string, ratio = 0.4) =>
  both((id, step) =>
    rollout(id, step, {
      patch: `--- a/a.js\n+++ b/a.js\n-return a;\n+${line}\n`,
      grade: { reward: 1, resolved: true, components: {}, tests: [], files: [{ path: 'a.js', ratio }] },
    }),
  );
const stopped = (stopReason: StopReason) => both((id, step) => rollout(id, step, { stopReason }));

/** A run that is sick in one way, for each way; where it must be found first. */
const sick: Readonly<
  Record<
    (typeof failureModes)[number],
    { symptoms: Symptoms; evidence?: Partial<Finding['evidence']>; settings?: SettingsInput }
  >
> = {
  'mask-leak': {
    symptoms: {
      rollouts: both((id, step) => {
        const nodes = nodesOf(healthyMessages);
        if (step === 2) nodes[2].actionMask[1] = 1;
        return rollout(id, step, { nodes });
      }),
    },
    evidence: { step: 2, trajectoryId: 's2/0', token: 7 },
  },
  'mask-off': {
    symptoms: {
      rollouts: both((id, step) => {
        const nodes = nodesOf(healthyMessages);
        if (step === 3) for (const { actionMask } of nodes) actionMask.fill(0);
        return rollout(id, step, { nodes });
      }),
    },
    evidence: { step: 3, trajectoryId: 's3/0', token: 3 },
  },
  'grader-hacking': { symptoms: { rollouts: patched('process.exit(0)') }, evidence: { trajectoryId: 's1/0' } },
  'reward-hacking': {
    symptoms: {
      metrics: (step) => ({ 'rewards/milestones/mean': step / 12, 'rewards/tests/mean': 0.3 }),
    },
    evidence: { step: 9 },
    settings: { shaping: { milestones: 0.2 } },
  },
  'heldout-leak': { symptoms: { taskId: 'h' }, evidence: { step: 1 } },
  'sampler-mismatch': {
    symptoms: { metrics: inStep(5, { 'sampling/sampling_logp_difference/mean': 0.3 }) },
    evidence: { step: 5 },
  },
  'unstable-gradients': {
    symptoms: { metrics: inStep(9, { grad_norm: 500 }) },
    evidence: { step: 9 },
  },
  'kl-explosion': { symptoms: { metrics: (step) => ({ kl: step > 6 ? 4 : 0.01 }) }, evidence: { step: 8 } },
  'no-movement': { symptoms: { metrics: () => ({ kl: 0 }) }, evidence: { step: 10 } },
  'entropy-collapse': { symptoms: { metrics: (step) => ({ entropy: 0.6 / step ** 2 }) } },
  'entropy-explosion': { symptoms: { metrics: (step) => ({ entropy: 0.3 * step }) } },
  'length-explosion': {
    symptoms: { metrics: (step) => ({ 'completions/mean_length': 100 * step, reward: 0.2 }) },
  },
  truncation: { symptoms: { rollouts: stopped('turn-limit') }, evidence: { trajectoryId: 's1/0' } },
  'equal-rewards': { symptoms: { metrics: () => ({ frac_reward_zero_std: 1 }) }, evidence: { step: 3 } },
  'blind-critic': {
    symptoms: { metrics: () => ({ 'critic/vf_explained_var': -0.5 }) },
    evidence: { step: 10 },
    settings: { algorithm: { advantage: 'scored-turns' } },
  },
  'invented-tools': { symptoms: { rollouts: withStatistics({ unknownTools: 1 }) } },
  'malformed-calls': { symptoms: { rollouts: withStatistics({ malformedCalls: 2 }) } },
  loops: {
    symptoms: {
      rollouts: both((id, step) =>
        rollout(id, step, {
          nodes: nodesOf([
            healthyMessages[0],
            ...Array(3)
              .fill([call('open', { path: 'a' }), answer('same')])
              .flat(),
          ] as Message[]),
        }),
      ),
    },
  },
  'infrastructure-failures': {
    symptoms: { metrics: (step) => ({ 'rollouts/infrastructure_failures': step === 4 ? 1 : 0 }) },
    evidence: { step: 4 },
  },
  overfitting: {
    symptoms: {
      evaluations: [
        [0.6, [0.5, 0.7]],
        [0.1, [0.05, 0.2]],
      ],
    },
  },
};

describe('the doctor', () => {
  it('is silent about a healthy run', () => {
    expect(examine({})).toEqual([]);
  });

  it.each(failureModes)('finds %s, alone, with its evidence and what to change', (mode) => {
    const { symptoms, evidence = {}, settings } = sick[mode];
    const findings = examine(symptoms, 12, settings);
    expect(findings.map((finding) => finding.mode)).toEqual([mode]);
    expect(findings[0].evidence).toMatchObject(evidence);
    expect(findings[0].causes.length).toBeGreaterThan(0);
    expect(findings[0].remedy).not.toBe('');
    const { message, phrase } = findings[0];
    expect(message).not.toMatch(/NaN|undefined|\n/);
    const filled = phrase?.template.replace(/\{(\d)\}/g, (_, index: string) => String(phrase.values[Number(index)]));
    expect(filled).toBe(message);
  });

  it('is silent about a horizon that grows: rollouts cut off by it, answers that grow with it', () => {
    const symptoms: Symptoms = {
      metrics: (step) => ({ 'completions/mean_length': 20 * step, reward: 0.2 }),
      rollouts: (step) => (step < 10 ? stopped('turn-limit')(step) : [rollout(`s${step}/0`, step)]),
    };
    const grows = { maxTurns: 10, curriculum: { horizonStart: 2, horizonSteps: 10 } };
    expect(examine(symptoms, 12, grows)).toEqual([]);
    expect(examine(symptoms).map(({ mode }) => mode)).toEqual(['length-explosion', 'truncation']);
  });

  it('is silent about an entropy that follows the temperature', () => {
    const metrics = (step: number) => ({ entropy: 0.2 * ((0.7 + 0.055 * Math.min(9, step - 1)) / 0.7) ** 3 * 1.2 });
    const rises = { temperature: 0.7, exploration: { temperatureEnd: 1.2 } };
    expect(examine({ metrics }, 10, rises)).toEqual([]);
    expect(examine({ metrics: (step) => ({ entropy: 0.2 * step ** 2 }) }, 10, rises)).not.toEqual([]);
  });

  it('is silent about a stage whose gradients, answers and entropy are of another size', () => {
    const symptoms: Symptoms = {
      method: (step) => (step <= 6 ? 'dpo' : 'policy-gradient'),
      metrics: (step): Record<string, number> =>
        step <= 6
          ? { grad_norm: 0.01 * step, entropy: 0.01, 'completions/mean_length': 10 }
          : { grad_norm: 5, entropy: 0.5, 'completions/mean_length': 100, reward: 0.2 },
    };
    expect(examine(symptoms)).toEqual([]);
  });

  it('is silent about equal outcomes that were made up for, or whose turns are told apart', () => {
    const metrics = () => ({ frac_reward_zero_std: 0.9 });
    expect(examine({ metrics }).map(({ mode }) => mode)).toEqual(['equal-rewards']);
    expect(examine({ metrics }, 12, { algorithm: { dynamicSampling: 2 } })).toEqual([]);
    expect(examine({ metrics }, 12, { algorithm: { advantage: 'igpo' } })).toEqual([]);
    const nothing = () => ({ frac_reward_zero_std: 1, 'updates/made': 0 });
    expect(examine({ metrics: nothing }, 12, { algorithm: { dynamicSampling: 2 } })).not.toEqual([]);
  });

  it('is silent about failures of the starting policy that were played as negative examples', () => {
    const negatives = (step: number) =>
      step > 1
        ? [rollout(`s${step}/0`, step)]
        : Array.from({ length: 9 }, (_, index) =>
            rollout(`n/${index}`, 0, { statistics: { ...rollout('n', 0).statistics, unknownTools: 5 } }),
          );
    expect(examine({ rollouts: negatives })).toEqual([]);
  });

  it('is silent about a way that earns more where its end does too, or where it is paid for nothing', () => {
    const both = (step: number) => ({ 'rewards/milestones/mean': step / 12, 'rewards/tests/mean': step / 100 });
    expect(examine({ metrics: both }, 12, { shaping: { milestones: 0.2 } })).toEqual([]);
    const { metrics } = sick['reward-hacking'].symptoms;
    expect(examine({ metrics })).toEqual([]);
  });

  it('finds a leak in the coefficients where the stored mask looks right', () => {
    const learned = (trajectory: Trajectory) => {
      const tokens = learnedOf(trajectory);
      tokens.coefficients[8] = 0.01;
      return tokens;
    };
    expect(examine({ learned })[0]).toMatchObject({ mode: 'mask-leak', evidence: { token: 8 } });
  });

  it('finds updates that were left out', () => {
    const metrics = inStep(2, { 'updates/made': 0, grad_norm: 0 });
    expect(examine({ metrics })[0]).toMatchObject({ mode: 'unstable-gradients', severity: 'critical' });
  });

  it('takes no offence at a trick that the oracle needs, or that was there before', () => {
    expect(examine({ rollouts: patched('process.exit(2)', 0.97) })).toEqual([]);
    const moved = '--- a/a.js\n+++ b/a.js\n-  process.exit(0)\n+process.exit(0)\n';
    expect(examine({ rollouts: both((id, step) => rollout(id, step, { patch: moved })) })).toEqual([]);
  });

  it('does not call it a loop when the answers differ', () => {
    const turns = [1, 2, 3].flatMap((n) => [call('run_tests', {}), answer(`${n} failed`)]);
    const rollouts = both((id, step) => rollout(id, step, { nodes: nodesOf([healthyMessages[0], ...turns]) }));
    expect(examine({ rollouts })).toEqual([]);
  });

  it('says the critical first', () => {
    const findings = examine({ rollouts: stopped('turn-limit'), taskId: 'h' });
    expect(findings.map(({ mode }) => mode)).toEqual(['heldout-leak', 'truncation']);
  });
});

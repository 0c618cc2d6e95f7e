import { isTurn } from '../../trajectory/message.js';
import type { LearnedTokens, Trajectory, TrajectoryNode } from '../../trajectory/trajectory.js';
import { machineError } from '../machineError.js';
import type { FileChange, SteppedTurn } from '../replay/steppedReplay.js';
import { pathOfNodes, turnsOf, type Turn } from '../trajectory/turns.js';
import { group, valueOf, type Value } from './values.js';
import { t } from '../translate.js';

/** What the record says about a trajectory, by turn. */
export class RecordedTurns {
  readonly turns: readonly Turn[];
  private readonly nodes: readonly TrajectoryNode[];
  private readonly firstToken: ReadonlyMap<TrajectoryNode, number>;

  constructor(
    readonly trajectory: Trajectory,
    private readonly learned: LearnedTokens | null,
  ) {
    this.turns = turnsOf(trajectory);
    this.nodes = pathOfNodes(trajectory).filter(({ message }) => isTurn(message));
    let next = 0;
    this.firstToken = new Map(
      trajectory.nodes.map((node) => {
        const first = next;
        next += node.tokenIds.length;
        return [node, first];
      }),
    );
  }

  /** What stands before the first turn. */
  startScopes(task: string, sandbox: string, oracle: readonly FileChange[]): Value[] {
    const { nodes, stopReason, seed, temperature, policyStep } = this.trajectory;
    const prompt = nodes.map(({ message }) => message).filter(({ role }) => role === 'system' || role === 'user');
    return [
      group(
        t('Prompt'),
        '',
        prompt.map(({ role, content }) => valueOf(role, content)),
      ),
      group(t('Episode'), '', [
        valueOf(t('task'), task),
        valueOf(t('sandbox'), sandbox),
        valueOf(t('oracle changes'), oracle.map(({ path }) => path).join(', ')),
        ...Object.entries({ stopReason, seed, temperature, policyStep }).map(([name, value]) => valueOf(name, value)),
      ]),
      this.reward(),
    ];
  }

  /** A turn's scopes; `call` (0-based) narrows them to one of its tool calls. */
  scopes(played: SteppedTurn, call?: number): Value[] {
    const recorded = this.turns[played.turn - 1];
    const { thinking, content, malformedCall, raw, toolCalls } = recorded.message;
    const calls = call === undefined ? toolCalls : toolCalls.slice(call, call + 1);
    const only = (values: readonly string[]) => (call === undefined ? values : values.slice(call, call + 1));
    const [recordedText, observedText] = [only(played.recorded).join('\n'), only(played.observed).join('\n')];
    const failures = only(played.failures.map((failure) => failure ?? '')).filter(Boolean);
    return [
      group(
        t('Call'),
        '',
        calls.length === 1
          ? [valueOf(t('tool'), calls[0].name), valueOf(t('arguments'), calls[0].arguments)]
          : calls.map(({ name, arguments: given }) => valueOf(name, given)),
      ),
      group(t('Observation'), '', [
        valueOf(t('observed'), observedText),
        valueOf(t('recorded'), recordedText),
        valueOf(t('same as recorded'), recordedText === observedText),
        ...(played.diff === '' ? [] : [valueOf(t('difference'), played.diff)]),
        ...(failures.length === 0 ? [] : [valueOf(t('failure'), failures.join('\n'))]),
      ]),
      group(t('Message'), '', [
        ...(thinking === undefined ? [] : [valueOf(t('thought'), thinking)]),
        valueOf(t('text'), content),
        ...(malformedCall === undefined ? [] : [valueOf(t('malformed call'), malformedCall)]),
        valueOf(t('raw'), raw),
      ]),
      group(
        t('Files'),
        '',
        played.changes.map(({ path, before, after }) =>
          valueOf(path, before === null ? t('added') : after === null ? t('removed') : t('changed')),
        ),
      ),
      this.tokens(played.turn),
      this.reward(),
    ];
  }

  /** The reward that the recorded episode got at its end. */
  private reward(): Value {
    const { grade } = this.trajectory;
    if (grade === null)
      return group(t('Reward'), '', [valueOf(t('none'), machineError(this.trajectory) ?? t('not graded'))]);
    const components = Object.entries(grade.components).map(([name, { score, weight }]) =>
      group(name, `${score} × ${weight} = ${Number((score * weight).toPrecision(5))}`, [
        valueOf(t('score'), score),
        valueOf(t('weight'), weight),
      ]),
    );
    return group(t('Reward'), '', [
      valueOf(t('reward'), grade.reward),
      valueOf(t('resolved'), grade.resolved),
      ...components,
    ]);
  }

  /** Statistics over the tokens that the policy sampled in a turn. */
  private tokens(turn: number): Value {
    const node = this.nodes[turn - 1];
    const sampled = Array.from(node.actionMask.keys()).filter((at) => node.actionMask[at] === 1);
    const first = this.firstToken.get(node) ?? 0;
    const mean = (of: (at: number) => number) => {
      const values = sampled.map(of).filter((value) => !Number.isNaN(value));
      return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
    };
    const { learned } = this;
    const logprob = mean((at) => node.logprobs[at]);
    const statistics: Readonly<Record<string, number | null>> = {
      [t('sampled tokens')]: sampled.length,
      [t('mean log-prob')]: logprob,
      [t('perplexity')]: logprob === null ? null : Math.exp(-logprob),
      [t('mean entropy')]: mean((at) => node.entropies[at]),
      ...(learned && {
        [t('mean advantage')]: mean((at) => learned.advantages[first + at]),
        [t('mean ratio')]: mean((at) => Math.exp(learned.learnerLogprobs[first + at] - node.logprobs[at])),
        [t('mean log-prob against reference')]: mean(
          (at) => learned.learnerLogprobs[first + at] - learned.referenceLogprobs[first + at],
        ),
        [t('sum of coefficients')]: sampled.reduce((sum, at) => sum + learned.coefficients[first + at], 0),
      }),
    };
    const known = Object.entries(statistics).filter(([, value]) => value !== null);
    return group(
      t('Tokens'),
      '',
      known.map(([name, value]) => valueOf(name, value)),
    );
  }
}

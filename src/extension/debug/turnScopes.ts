import type { LearnedTokens, Trajectory, TrajectoryNode } from '../../trajectory/trajectory.js';
import type { FileChange, SteppedTurn } from '../replay/steppedReplay.js';
import { pathOfNodes, turnsOf, type Turn } from '../trajectory/turns.js';
import { group, valueOf, type Value } from './values.js';

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
    this.nodes = pathOfNodes(trajectory).filter(({ message }) => message.role === 'assistant');
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
        'Prompt',
        '',
        prompt.map(({ role, content }) => valueOf(role, content)),
      ),
      group('Episode', '', [
        valueOf('task', task),
        valueOf('sandbox', sandbox),
        valueOf('oracle changes', oracle.map(({ path }) => path).join(', ')),
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
        'Call',
        '',
        calls.length === 1
          ? [valueOf('tool', calls[0].name), valueOf('arguments', calls[0].arguments)]
          : calls.map(({ name, arguments: given }) => valueOf(name, given)),
      ),
      group('Observation', '', [
        valueOf('observed', observedText),
        valueOf('recorded', recordedText),
        valueOf('same as recorded', recordedText === observedText),
        ...(played.diff === '' ? [] : [valueOf('difference', played.diff)]),
        ...(failures.length === 0 ? [] : [valueOf('failure', failures.join('\n'))]),
      ]),
      group('Message', '', [
        ...(thinking === undefined ? [] : [valueOf('thought', thinking)]),
        valueOf('text', content),
        ...(malformedCall === undefined ? [] : [valueOf('malformed call', malformedCall)]),
        valueOf('raw', raw),
      ]),
      group(
        'Files',
        '',
        played.changes.map(({ path, before, after }) =>
          valueOf(path, before === null ? 'added' : after === null ? 'removed' : 'changed'),
        ),
      ),
      this.tokens(played.turn),
      this.reward(),
    ];
  }

  /** The reward that the recorded episode got at its end. */
  private reward(): Value {
    const { grade, infrastructureError } = this.trajectory;
    if (grade === null) return group('Reward', '', [valueOf('none', infrastructureError ?? 'not graded')]);
    const components = Object.entries(grade.components).map(([name, { score, weight }]) =>
      group(name, `${score} × ${weight} = ${Number((score * weight).toPrecision(5))}`, [
        valueOf('score', score),
        valueOf('weight', weight),
      ]),
    );
    return group('Reward', '', [valueOf('reward', grade.reward), valueOf('resolved', grade.resolved), ...components]);
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
      'sampled tokens': sampled.length,
      'mean log-prob': logprob,
      perplexity: logprob === null ? null : Math.exp(-logprob),
      'mean entropy': mean((at) => node.entropies[at]),
      ...(learned && {
        'mean advantage': mean((at) => learned.advantages[first + at]),
        'mean ratio': mean((at) => Math.exp(learned.learnerLogprobs[first + at] - node.logprobs[at])),
        'mean log-prob against reference': mean(
          (at) => learned.learnerLogprobs[first + at] - learned.referenceLogprobs[first + at],
        ),
        'sum of coefficients': sampled.reduce((sum, at) => sum + learned.coefficients[first + at], 0),
      }),
    };
    const known = Object.entries(statistics).filter(([, value]) => value !== null);
    return group(
      'Tokens',
      '',
      known.map(([name, value]) => valueOf(name, value)),
    );
  }
}

import type { StartTree } from '../../env/suspects/findSuspects.js';
import { treeAt } from '../../env/tools/startTree.js';
import { badInput, cancelled } from '../../trajectory/errors.js';
import type { Task } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import type { Generator } from '../model/policy.js';
import type { Arena, SamplingOptions } from '../rollout/arena.js';
import { demonstrationPlans } from '../rollout/plans.js';
import { playGroups, type Schedule } from '../rollout/playGroups.js';
import type { TextCodec } from '../text/textCodec.js';
import { parseAssistantText } from '../text/toolCalls.js';
import type { Expert } from './experts.js';
import { expertTurns } from './expertTurns.js';
import { learnedFromPerson, type PersonScript } from './personScripts.js';

/**
 * Plays the expert's episodes of the tasks in their real trees, and those of people again: what the tools answer is what a
 * policy would have met. Tasks whose oracle the expert cannot say in a short edit are left out.
 * @param recorded demonstrations that were played before the run was interrupted
 */
export async function playDemonstrations(
  arena: Arena,
  codec: TextCodec,
  tasks: readonly Task[],
  expert: Expert,
  people: readonly PersonScript[],
  maxContext: number,
  options: SamplingOptions,
  schedule: Schedule,
  recorded: (id: string) => Promise<Trajectory | null>,
): Promise<Trajectory[]> {
  const scripts = new Map<string, readonly Int32Array[]>();
  const known: Task[] = [];
  for (const task of tasks) {
    if (schedule.signal.aborted) throw cancelled();
    const turns = await turnsOf(arena, task, expert, schedule.signal);
    if (turns === null || !turns.every((raw) => isRead(codec, raw))) continue;
    const [plan] = demonstrationPlans([task]);
    scripts.set(
      plan.id,
      turns.map((raw) => encoded(codec, raw)),
    );
    known.push(task);
  }
  for (const { plan, turns } of people) scripts.set(plan.id, turns);
  const player = { generator: scriptedGenerator(scripts, maxContext), codec, policyStep: 0 };
  const plans = [...demonstrationPlans(known), ...people.map(({ plan }) => plan)];
  const played = await playGroups(player, arena, plans, options, schedule, recorded);
  const given = new Map(people.map((script) => [script.plan.id, script.given]));
  return played.map((trajectory) => learnedFromPerson(trajectory, given.get(trajectory.id) ?? 0));
}

/** Looks at the start tree for as long as the turns take to write. */
async function turnsOf(
  arena: Arena,
  task: Task,
  expert: Expert,
  signal: AbortSignal,
): Promise<readonly string[] | null> {
  const episode = await arena.startEpisode(task, signal);
  try {
    return await expertTurns(task, treeHere(episode.root), expert);
  } finally {
    await episode.dispose();
  }
}

/** The tree of an episode that is played on this machine. */
export function treeHere(root: string | null): StartTree {
  if (root === null) throw badInput('The expert looks at the tree, which is on another machine.', 'Play it here.');
  return treeAt(root);
}

/** A model whose calls look otherwise than the expert's cannot learn from them. */
function isRead(codec: TextCodec, raw: string): boolean {
  const { toolCalls } = codec.parseTurn(encoded(codec, raw));
  return toolCalls.length === parseAssistantText(raw).toolCalls.length;
}

/** The expert's turn as the policy itself would write it. */
const encoded = (codec: TextCodec, raw: string) =>
  codec.toolFormat.name === 'hermes' ? codec.encodeTurn(raw) : codec.encodeMessage(parseAssistantText(raw));

/** Says each session's turns one after the other. Nobody sampled them, so they have no log-probabilities. */
function scriptedGenerator(scripts: ReadonlyMap<string, readonly Int32Array[]>, maxContext: number): Generator {
  const said = new Map<string, number>();
  return {
    maxContext,
    generate({ sessionId, maxNewTokens }) {
      const turn = said.get(sessionId) ?? 0;
      said.set(sessionId, turn + 1);
      const whole = scripts.get(sessionId)![turn]!;
      const tokenIds = whole.slice(0, maxNewTokens);
      const unknown = new Float32Array(tokenIds.length).fill(NaN);
      const finishReason = tokenIds.length < whole.length ? 'length' : 'stop';
      return Promise.resolve({ tokenIds, logprobs: unknown, entropies: unknown, finishReason });
    },
    release: (sessionId) => void said.delete(sessionId),
    invalidate: () => undefined,
    dispose: () => Promise.resolve(),
  };
}

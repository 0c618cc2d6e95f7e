import { createHash } from 'node:crypto';
import type { Trajectory } from '../trajectory/trajectory.js';
import { informationGains } from './algorithm/informationGain.js';
import type { Subgoals } from './algorithm/subgoals.js';
import type { TurnView } from './algorithm/turnView.js';
import type { Learner, TrainingSequence } from './model/policy.js';

/**
 * The turns of a trajectory. The state before a turn is a digest of what was said since the turn before: of the same task,
 * the same observations in the same words.
 */
export function turnViewOf(
  { nodes }: Trajectory,
  gains: readonly number[] | null = null,
  subgoals: Subgoals | null = null,
): TurnView {
  const turnOfToken = new Int32Array(nodes.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0)).fill(-1);
  const states: string[] = [];
  let seen: string[] = [];
  let start = 0;
  for (const { message, tokenIds, forced = 0 } of nodes) {
    const end = start + tokenIds.length;
    if (message.role === 'assistant') {
      turnOfToken.fill(states.length, start + forced, end);
      states.push(createHash('sha256').update(JSON.stringify(seen)).digest('base64'));
      seen = [];
    } else {
      seen.push(message.role, message.content);
    }
    start = end;
  }
  return { turnOfToken, states, gains, subgoals };
}

/** Longest oracle, in tokens, whose probability is asked for. */
const longestOracle = 512;

/**
 * What each turn of the trajectories adds to the policy's belief in the oracle (informationGain.ts), by scoring the oracle's
 * turn behind every prefix. Turns gain 0 where there is no oracle or it is too long.
 * @param oracles ids of the oracle's turn, one a trajectory; null: none
 * @returns [trajectories][turns]
 */
export async function scoreInformationGains(
  learner: Learner,
  trajectories: readonly Trajectory[],
  oracles: readonly (Int32Array | null)[],
): Promise<number[][]> {
  const asked = trajectories.map((trajectory, index) => {
    const oracle = oracles[index];
    return oracle === null || oracle.length > longestOracle ? [] : oracleSequences(trajectory, oracle);
  });
  const scores = await learner.score(asked.flat(), 1);
  let next = 0;
  return trajectories.map(({ nodes }, index) => {
    const turns = nodes.filter(({ message }) => message.role === 'assistant').length;
    const own = scores.slice(next, (next += asked[index].length));
    if (own.length === 0) return new Array<number>(turns).fill(0);
    const gains = informationGains(own.map(({ logprobs }) => meanOfKnown(logprobs)));
    // Behind the last turn nothing was observed where the episode ended with it; that turn earns the outcome anyway.
    return Array.from({ length: turns }, (_, turn) => gains[turn] ?? 0);
  });
}

/** The oracle's turn behind each prefix at which the policy was to speak: before the first turn and after each observation. */
function oracleSequences({ nodes }: Trajectory, oracle: Int32Array): TrainingSequence[] {
  const heads = nodes.flatMap(({ message, parent }) =>
    message.role === 'assistant' && parent !== null ? [parent] : [],
  );
  const isOpen = nodes.length > 0 && nodes[nodes.length - 1].message.role !== 'assistant';
  return [...heads, ...(isOpen ? [nodes.length - 1] : [])].map((head) => {
    const ids = idsUpTo(nodes, head);
    return {
      tokenIds: Int32Array.from([...ids, ...oracle]),
      actionMask: Uint8Array.from([...new Uint8Array(ids.length), ...new Uint8Array(oracle.length).fill(1)]),
    };
  });
}

/** The ids from the root to a node: what the policy saw there. */
function idsUpTo(nodes: Trajectory['nodes'], head: number): number[] {
  const path: number[] = [];
  for (let at: number | null = head; at !== null; at = nodes[at].parent) path.unshift(at);
  return path.flatMap((index) => [...nodes[index].tokenIds]);
}

function meanOfKnown(values: Float32Array): number {
  const known = values.filter((value) => !Number.isNaN(value));
  return known.reduce((sum, value) => sum + value, 0) / known.length;
}

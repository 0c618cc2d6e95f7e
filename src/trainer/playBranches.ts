import { badInput } from '../trajectory/errors.js';
import { say } from '../trajectory/said.js';
import type { Task } from '../trajectory/task.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import type { Arena, MessagePlayer, Player, SamplingOptions } from './rollout/arena.js';
import { branchPlans } from './rollout/branchPlans.js';
import { playGroups, type Schedule } from './rollout/playGroups.js';
import type { RunReader } from './run/runReader.js';
import type { TextCodec } from './text/textCodec.js';

/** Where a recorded trajectory is left, and by whom. */
export interface BranchPoint {
  readonly parent: Trajectory;
  readonly task: Task;
  /** The last turn that the branches share with it; 0: only the prompt. */
  readonly turn: number;
  readonly count: number;
  /** Who plays on, in words. */
  readonly policy: string;
}

/**
 * Plays branches of a trajectory that the run has recorded: each in a worktree of its own, brought to the turn's state by the
 * recorded actions, and graded like any other episode. They come in order; `schedule.onTrajectory` is to record them.
 * @throws bad-input where nothing can follow the turn, or the policy reads the recorded ids as another text
 */
export async function playBranches(
  player: Player | MessagePlayer,
  arena: Arena,
  run: RunReader,
  { parent, task, turn, count, policy }: BranchPoint,
  options: SamplingOptions,
  schedule: Schedule,
  tokenizerOfRun: () => Promise<Pick<TextCodec, 'tokenTexts'>>,
): Promise<Trajectory[]> {
  const { settings } = await run.config();
  const group = await run.headers(
    ({ kind, step, taskId }) => kind === parent.kind && step === parent.step && taskId === parent.taskId,
  );
  const plans = branchPlans(parent, task, turn, count, policy, {
    seed: settings.seed,
    takenIds: await run.ids(),
    firstSample: Math.max(...group.map(({ sample }) => sample), parent.sample) + 1,
  });
  if ('codec' in player) await checkTokens(parent, player.codec, tokenizerOfRun);
  return playGroups(player, arena, plans, options, schedule);
}

/** Recorded ids are only a history to whoever reads the same text out of them. */
async function checkTokens(
  { id, nodes }: Trajectory,
  codec: TextCodec,
  tokenizerOfRun: () => Promise<Pick<TextCodec, 'tokenTexts'>>,
): Promise<void> {
  const ids = [...new Set(nodes.flatMap(({ tokenIds }) => [...tokenIds]))];
  if (ids.length === 0) {
    throw badInput(
      say`${id} was recorded without token ids, so no policy of ours can go on from it.`,
      'Let `--policy expert` or a server play on.',
    );
  }
  const recorded = (await tokenizerOfRun()).tokenTexts(ids);
  if (codec.tokenTexts(ids).some((text, index) => text !== recorded[index])) {
    throw badInput(
      say`The policy has another tokenizer than the one that ${id} was sampled with.`,
      "Choose a checkpoint of the run's own model, or let `--policy expert` or a server play on.",
    );
  }
}

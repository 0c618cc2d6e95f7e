import { setMaxListeners } from 'node:events';
import { cancelled, infrastructure } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import type { Arena, EpisodePlan, MessagePlayer, Player, SamplingOptions } from './arena.js';
import { playEpisode } from './playEpisode.js';
import { Slots } from '../../env/slots.js';

export interface Schedule {
  /** Episodes side by side: their turns are sampled as one batch while others wait for their commands. */
  readonly concurrency: number;
  readonly signal: AbortSignal;
  /** Waited for before each episode: a paused run stops here. */
  readonly gate: () => Promise<void>;
  /** Called once for each episode that was played, as it ends. */
  readonly onTrajectory: (trajectory: Trajectory) => void;
}

/**
 * Plays the planned episodes, those of them that are recorded already aside; trajectories come in the order of the plans. Episodes start in that order, so with a
 * concurrency of 1 the schedule is fixed. The first error ends all; it is thrown when the others have let go.
 */
export async function playGroups(
  player: Player | MessagePlayer,
  arena: Arena,
  plans: readonly EpisodePlan[],
  options: SamplingOptions,
  schedule: Schedule,
  recorded: (id: string) => Promise<Trajectory | null> = () => Promise.resolve(null),
): Promise<Trajectory[]> {
  const trajectories = new Array<Trajectory>(plans.length);
  const failure = new AbortController();
  const signal = AbortSignal.any([schedule.signal, failure.signal]);
  // Each episode listens, and so does each of its waits.
  setMaxListeners(0, signal);
  const slots = new Slots(options.commandSlots);
  let next = 0;
  const playOn = async () => {
    try {
      while (next < plans.length) {
        const index = next++;
        const before = await recorded(plans[index].id);
        if (before !== null) {
          trajectories[index] = before;
          continue;
        }
        await schedule.gate();
        if (signal.aborted) throw cancelled();
        const { temperature = options.temperature } = plans[index];
        trajectories[index] = await playEpisode(
          player,
          arena,
          plans[index],
          { ...options, temperature },
          signal,
          slots,
        );
        schedule.onTrajectory(trajectories[index]);
      }
    } catch (error) {
      failure.abort();
      throw error;
    }
  };
  const lanes = Array.from({ length: Math.min(schedule.concurrency, plans.length) }, playOn);
  const ended = await Promise.allSettled(lanes);
  const errors = ended.flatMap((lane) => (lane.status === 'rejected' ? [lane.reason as unknown] : []));
  // Where one lane failed, the others were cancelled: the failure is what matters.
  const cause = errors.find((error) => (error as { kind?: string }).kind !== 'cancelled') ?? errors[0];
  if (cause !== undefined) throw cause;
  // One that fails is left out of its group; where none is left there is nothing to learn or to tell.
  const [first] = trajectories;
  if (first?.infrastructureError && trajectories.every(({ infrastructureError }) => infrastructureError !== null)) {
    const why = { message: first.infrastructureError, phrase: first.infrastructurePhrase };
    throw infrastructure(say`All ${trajectories.length} episodes failed: ${why}`, '');
  }
  return trajectories;
}

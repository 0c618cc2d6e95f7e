import type { TrajectoryHeader } from '../../trainer/run/runRecord.js';
import { WhetstoneError } from '../../trajectory/errors.js';
import type { RunStore } from './runStore.js';
import type { RunOf } from './runTree.js';

/**
 * A run's headers where those of several are read: none where its record is broken, cannot be read or is gone, so that it hides no
 * other run's. Whoever opens that run is told what is wrong.
 */
export async function headersAmongOthers(
  store: Pick<RunStore, 'reader'>,
  { repository, summary }: RunOf,
): Promise<readonly TrajectoryHeader[]> {
  try {
    const reader = await store.reader(repository.stateFolder, summary.id);
    return await reader.headers();
  } catch (error) {
    if (error instanceof WhetstoneError || isOfTheSystem(error)) return [];
    throw error;
  }
}

/** Node gives the failures of the file system, and only those, the name of the call. */
const isOfTheSystem = (error: unknown) => error instanceof Error && 'syscall' in error;

import { badInput } from '../trajectory/errors.js';
import { say } from '../trajectory/said.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { openRun, type RunReader } from './run/runReader.js';
import { loadRunTokenizer } from './run/runTokenizer.js';
import type { TextCodec } from './text/textCodec.js';

/** The run that learns: what it trains on, and how its policy reads token ids. */
export interface TakingRun {
  readonly stateFolder: string;
  readonly reader: RunReader;
  readonly trainTasks: ReadonlySet<string>;
  readonly codec: Pick<TextCodec, 'tokenTexts'>;
  /** Folder of the policy that comes with Whetstone. */
  readonly embeddedModel: () => string;
}

const takenId = (runId: string, id: string) => `from-${runId}/${id}`;

/**
 * What another run has recorded of the train tasks, evaluations aside, as this run's own: of step 0, under ids that name where it
 * comes from, branches behind what they are branches of. What this run holds already is left out, so that a killed run goes on.
 * @throws bad-input where there is no such run, or it was sampled with another tokenizer
 */
export async function* takeOver(fromRun: string, run: TakingRun): AsyncGenerator<Trajectory> {
  const source = openRun(run.stateFolder, fromRun);
  const known = await run.reader.ids();
  const headers = await source.headers(({ kind, taskId }) => kind !== 'evaluation' && run.trainTasks.has(taskId));
  const tokenizer = await loadRunTokenizer(source, run.embeddedModel);
  for (const header of headers) {
    const id = takenId(fromRun, header.id);
    if (known.has(id)) continue;
    const trajectory = await source.trajectory(header.id);
    const ids = [...new Set(trajectory.nodes.flatMap(({ tokenIds }) => [...tokenIds]))];
    const texts = tokenizer.tokenTexts(ids);
    if (run.codec.tokenTexts(ids).some((text, index) => text !== texts[index])) {
      throw badInput(
        say`${header.id} of run ${fromRun} was sampled with another tokenizer than this run's.`,
        'Learn `from` a run of the same model.',
      );
    }
    const { origin } = trajectory;
    yield {
      ...trajectory,
      id,
      step: 0,
      ...(origin && { origin: { ...origin, trajectoryId: takenId(fromRun, origin.trajectoryId) } }),
    };
  }
}

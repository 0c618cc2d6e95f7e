import { playsAhead } from '../trainer/data/playedAhead.js';
import { trainingOutlook, type Outlook } from '../trainer/estimate/outlook.js';
import { chooseDevice, listDevices } from '../trainer/model/devices.js';
import { refusalToPlayAhead } from '../trainer/model/playedWeights.js';
import type { Settings } from '../trainer/run/settings.js';
import { badInput } from '../trajectory/errors.js';
import { say } from '../trajectory/said.js';
import { print, printable, printJson, table } from './output.js';

/** Measures the devices and says about how much a training would take on each that the settings allow. Throws bad-input. */
export async function showOutlook(
  places: { readonly repoRoot: string; readonly stateFolder: string },
  settings: Settings,
  json: boolean | undefined,
): Promise<void> {
  const { device, model } = settings;
  const refusal = playsAhead(settings) && device !== 'auto' ? refusalToPlayAhead(device) : null;
  if (refusal !== null) throw refusal;
  const measured = (await listDevices()).flatMap(({ name, gflops, decodedGigabytes }) =>
    gflops === null || decodedGigabytes === null || (device !== 'auto' && device !== name)
      ? []
      : [{ name, gflops, decodedGigabytes }],
  );
  // It says why there is none.
  if (measured.length === 0) await chooseDevice(device);
  const outlook = await trainingOutlook(places, settings, measured);
  if (outlook === null) {
    throw badInput(
      say`The shape of '${model}' is not known before it is fetched.`,
      'A training fetches it, and so does `whetstone train --steps 0`.',
    );
  }
  if (json) printJson(outlook);
  else for (const line of outlookLines(outlook, settings)) print(printable(line));
}

export function outlookLines(outlook: Outlook, settings: Pick<Settings, 'steps' | 'asynchrony'>): string[] {
  const { model, parameters, trained, episode, heldoutEpisodes, devices } = outlook;
  const share = trained === parameters ? 'all of them trained' : `an adapter of ${millions(trained)} is trained`;
  const { tokens, sampled, run, besideSeconds } = episode;
  const lengths = `${tokens.toFixed(0)} tokens, ${sampled.toFixed(0)} of them sampled`;
  const evaluations =
    heldoutEpisodes === null
      ? 'the evaluations are left out, since no tasks were built yet'
      : `and two evaluations of ${heldoutEpisodes} episodes`;
  return [
    `${model}: ${millions(parameters)} parameters, ${share}`,
    '',
    table(
      ['device', 'memory', 'a step', 'of it learning', 'training'],
      devices
        .filter(({ refusal }) => refusal === null)
        .map(({ name, memory, time }) => [
          name,
          about(bytes(memory.total)),
          about(duration(time.step)),
          about(duration(time.learning)),
          about(duration(time.training)),
        ]),
    ),
    ...devices.flatMap(({ refusal }) => (refusal === null ? [] : ['', refusal.message])),
    '',
    `The training is ${settings.steps} ${settings.steps === 1 ? 'step' : 'steps'}, ${evaluations}.`,
    "Estimated from the model's shape, the settings and the measured speed of the device, for episodes",
    run === null ? `as long as they may be: ${lengths}.` : `like those of run ${run}: ${lengths}.`,
    besideSeconds === null
      ? 'Their commands and tests come on top.'
      : `Their commands and tests are counted as ${twoDigits(besideSeconds)} s each, as they were there.`,
    ...(playsAhead(settings)
      ? ['Learning is counted as going on while they run, but for the last step of a stage; computing as if by turns.']
      : []),
  ];
}

const about = (text: string): string => `about ${text}`;
const millions = (count: number): string => `${twoDigits(count / 1e6)} million`;

function bytes(count: number): string {
  const mebibytes = count / 2 ** 20;
  return mebibytes < 1000 ? `${twoDigits(mebibytes)} MiB` : `${twoDigits(mebibytes / 1024)} GiB`;
}

function duration(seconds: number): string {
  if (seconds < 100) return `${twoDigits(seconds)} s`;
  return seconds < 6000 ? `${twoDigits(seconds / 60)} min` : `${twoDigits(seconds / 3600)} h`;
}

/** An estimate deserves no more. */
const twoDigits = (value: number): string => String(Number(value.toPrecision(2)));

import { z } from 'zod';
import { checkpointsSchema } from './routeSettings.js';
import { settingsSchema, type Settings } from './settings.js';

const { learningRate, device, workers, concurrency, checkpointEvery, doctor } = settingsSchema.shape;
const { keepLast, keepBest, keepEvery, diskGigabytes } = checkpointsSchema.shape;

/** What a resumed run may do otherwise than before: nothing of it changes what was recorded. Absent: as it was. */
export const resumeChangesSchema = z.strictObject({
  learningRate: learningRate.unwrap().optional(),
  device: device.unwrap().optional(),
  workers: workers.unwrap().optional(),
  concurrency: concurrency.unwrap().optional(),
  checkpointEvery: checkpointEvery.unwrap().optional(),
  doctor: doctor.unwrap().optional(),
  checkpoints: z
    .strictObject({
      keepLast: keepLast.unwrap().optional(),
      keepBest: keepBest.unwrap().optional(),
      keepEvery: keepEvery.unwrap().optional(),
      diskGigabytes: diskGigabytes.unwrap().optional(),
    })
    .optional(),
});
export type ResumeChanges = z.infer<typeof resumeChangesSchema>;

/** A setting by its name (`checkpoints.keepLast`), as it was and as it is from here on. */
export interface SettingChange {
  readonly setting: string;
  readonly from: string | number | boolean;
  readonly to: string | number | boolean;
}

type Value = SettingChange['from'] | readonly string[];
const shown = (value: Value) => (typeof value === 'object' ? value.join(', ') || 'none' : value);

/** The settings with the changes, and the list of those that really change something. */
export function changedSettings(
  settings: Settings,
  wished: ResumeChanges,
): { settings: Settings; changes: readonly SettingChange[] } {
  const { checkpoints: ofCheckpoints = {}, ...others } = wished;
  const given = (values: object) => Object.entries(values).filter(([, value]) => value !== undefined);
  const differing = (prefix: string, now: object, next: object) =>
    given(next).flatMap(([key, value]) => {
      const [from, to] = [(now as Record<string, Value>)[key], value as Value].map(shown);
      return from === to ? [] : [{ setting: `${prefix}${key}`, from, to }];
    });
  return {
    settings: {
      ...settings,
      ...Object.fromEntries(given(others)),
      checkpoints: { ...settings.checkpoints, ...Object.fromEntries(given(ofCheckpoints)) },
    },
    changes: [...differing('', settings, others), ...differing('checkpoints.', settings.checkpoints, ofCheckpoints)],
  };
}

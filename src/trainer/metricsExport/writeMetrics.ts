import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { storageError, writeFileAtomically } from '../run/storage.js';
import { metricsCsv } from './csv.js';
import type { MetricSeries } from './series.js';
import { tensorboardEvents } from './tensorboard.js';

export const metricFormats = ['csv', 'tensorboard'] as const;
export type MetricFormat = (typeof metricFormats)[number];

/**
 * Writes the metrics of a run into `folder` and returns the file. TensorBoard shows a folder of event files as one run, so
 * that file has a folder of the run's name; writing it again replaces it.
 */
export async function writeMetrics(
  series: MetricSeries,
  format: MetricFormat,
  runId: string,
  folder: string,
): Promise<string> {
  const file =
    format === 'csv'
      ? path.resolve(folder, `${runId}.csv`)
      : path.resolve(folder, runId, `events.out.tfevents.0.whetstone`);
  try {
    await mkdir(path.dirname(file), { recursive: true });
  } catch (error) {
    throw storageError(error, path.dirname(file));
  }
  await writeFileAtomically(file, format === 'csv' ? metricsCsv(series) : tensorboardEvents(series));
  return file;
}

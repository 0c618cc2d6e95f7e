import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SettingsInput } from '../../../src/trainer/run/settings.js';
import { RecordedRun } from '../fixtures/recordedRun.js';
import { stopTrainings } from '../fixtures/stopTrainings.js';
import { tinySettings } from '../fixtures/tinySettings.js';
import { makeWorkspace } from '../fixtures/workspace.js';
import type { TestReport } from '../harness/report.js';
import { Workbench } from './workbench.js';

interface Stage {
  readonly workbench: Workbench;
  readonly run: RecordedRun;
  /** The opened repository. */
  readonly folder: string;
}

export interface Scenario {
  /** Steps that the run is to train. */
  readonly runSteps: number;
  /** Settings of the run beside that; `folder` is a scratch folder of the scenario. */
  readonly runSettings?: (folder: string) => Promise<Omit<SettingsInput, 'steps'>>;
  /** Settings of the editor; `folder` as above. By default those of a training that takes long. */
  readonly settings?: (folder: string) => Promise<Readonly<Record<string, unknown>>>;
  /** Writes what the run holds when the window opens. */
  readonly prepare: (run: RecordedRun, folder: string) => void | Promise<void>;
  /** What a user does, in order; every step goes on from where the one before left the window. */
  readonly steps: readonly (readonly [name: string, play: (stage: Stage) => Promise<void>])[];
}

/** Plays the scenario in a workbench of its own; after a step that fails the rest is not tried. */
export async function playScenario(
  { runSteps, runSettings, settings: settingsOf, prepare, steps }: Scenario,
  options: { root: string; node: string; codeServer: string },
): Promise<TestReport> {
  const report: TestReport = { results: [] };
  const scratch = mkdtempSync(join(tmpdir(), 'whetstone-ui-'));
  const folder = makeWorkspace(scratch);
  const run = await RecordedRun.create(folder, 'run-1', runSteps, await runSettings?.(scratch));
  await prepare(run, folder);
  await run.live();
  const settings = (await settingsOf?.(scratch)) ?? { ...tinySettings('embedded'), 'whetstone.steps': 100 };
  const extensions = [join(options.root, 'test', 'vscode', 'fixtures', 'language-model')];
  const workbench = await Workbench.open({ ...options, extension: options.root, extensions, folder, settings });
  try {
    for (const [name, play] of steps) {
      const start = Date.now();
      const limit = 240_000;
      let timer: NodeJS.Timeout | undefined;
      try {
        const late = new Promise<never>((_, reject) => {
          timer = setTimeout(() => reject(new Error(`took more than ${limit / 1000} s`)), limit);
        });
        await Promise.race([play({ workbench, run, folder }), late]);
        report.results.push({ name, milliseconds: Date.now() - start });
      } catch (error) {
        await workbench.screenshot('failure');
        const failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
        report.results.push({ name, milliseconds: Date.now() - start, failure });
        break;
      } finally {
        clearTimeout(timer);
      }
    }
  } finally {
    await workbench.stop();
    await run.end('stopped');
    await stopTrainings(folder);
    rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  }
  return report;
}

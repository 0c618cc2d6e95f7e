import { Option } from 'commander';
import { connectToRun, type TrainingHandle } from '../../trainer/background/client.js';
import { cleanUpAfterKilled } from '../../trainer/background/processRecord.js';
import { metricsCsv } from '../../trainer/metricsExport/csv.js';
import { metricSeries } from '../../trainer/metricsExport/series.js';
import { metricFormats, writeMetrics, type MetricFormat } from '../../trainer/metricsExport/writeMetrics.js';
import { listRuns, openRun } from '../../trainer/run/runReader.js';
import { badInput, failed } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { interruptible } from '../interrupt.js';
import { filled, jsonOption, locateState, repoOption, type AddCommand, type RepoOptions } from '../options.js';
import { print, printable, printJson, table } from '../output.js';
import { reportLines } from './train.js';

export const addRunsCommand: AddCommand = (program) => {
  const runs = program.command('runs').description('the trainings of this repository');
  runs
    .command('list')
    .description('all runs, newest first')
    .addOption(repoOption())
    .addOption(jsonOption())
    .action(list);
  runs
    .command('show <run>')
    .description('one run: its steps and trajectories')
    .addOption(repoOption())
    .addOption(jsonOption())
    .action(show);
  runs
    .command('export <run>')
    .description('the metrics of a run for other tools: CSV, or an event file that TensorBoard reads')
    .addOption(repoOption())
    .addOption(new Option('--format <format>', 'what to write').choices(metricFormats).default('csv'))
    .addOption(
      new Option(
        '--out <folder>',
        'where to write it: <run>.csv, or a folder of events named after the run; CSV is printed where it is left out',
      ).argParser(filled),
    )
    .addOption(jsonOption())
    .action(exportRun);
  runs
    .command('stop [run]')
    .description('stop the training that runs, in order')
    .addOption(repoOption())
    .addOption(jsonOption())
    .action((run: string | undefined, options: RepoOptions) => interruptible((signal) => stop(run, options, signal)));
  runs
    .command('pause [run]')
    .description('let the training that runs wait after what it is at')
    .addOption(repoOption())
    .addOption(jsonOption())
    .action((run: string | undefined, options: RepoOptions) => setPaused(true, run, options));
  runs
    .command('continue [run]')
    .description('let a paused training go on')
    .addOption(repoOption())
    .addOption(jsonOption())
    .action((run: string | undefined, options: RepoOptions) => setPaused(false, run, options));
};

interface ExportOptions extends RepoOptions {
  readonly format: MetricFormat;
  readonly out?: string;
}

async function exportRun(id: string, { format, out, ...options }: ExportOptions): Promise<void> {
  const stateFolder = await tidiedState(options);
  const run = openRun(stateFolder, id);
  const series = metricSeries(await run.events());
  if (out === undefined && format === 'csv' && !options.json) return print(metricsCsv(series).trimEnd());
  const file = await writeMetrics(series, format, run.id, out ?? '.');
  if (options.json) return printJson({ run: run.id, format, file, metrics: [...series.keys()] });
  print(`${series.size} metrics of run ${run.id} are in ${file}.`);
}

/** Who looks at the runs also clears away what killed ones left behind. */
async function tidiedState(options: RepoOptions): Promise<string> {
  const { stateFolder } = await locateState(options);
  await cleanUpAfterKilled(stateFolder);
  return stateFolder;
}

async function list(options: RepoOptions): Promise<void> {
  const stateFolder = await tidiedState(options);
  const runs = await listRuns(stateFolder);
  if (options.json) return printJson({ runs });
  if (runs.length === 0) return print('No runs yet. Start one with `whetstone train`.');
  print(
    table(
      ['run', 'status', 'step', 'of', 'started'],
      runs.map((run) => [run.id, run.status, String(run.step), String(run.steps), run.createdAt]),
    ),
  );
}

async function show(id: string, options: RepoOptions): Promise<void> {
  const stateFolder = await tidiedState(options);
  const run = openRun(stateFolder, id);
  const [summary, steps, evaluations, headers] = [
    await run.summary(),
    await run.steps(),
    await run.evaluations(),
    await run.headers(),
  ];
  const findings = (await run.events()).filter((event) => event.type === 'finding');
  const plans = await run.plans();
  const trajectories = headers.map(({ taskId, ...header }) => ({ ...header, task: taskId }));
  if (options.json)
    return printJson({
      ...summary,
      steps: steps.map(({ step, at, metrics, groups }) => ({ step, at, metrics, groups })),
      plans: plans.map(({ at: _, type: __, ...plan }) => plan),
      evaluations,
      findings: findings.map(({ step, finding }) => ({ step, ...finding })),
      trajectories,
    });
  print(
    `Run ${summary.id}: ${summary.status}${summary.message ? ` (${summary.message})` : ''}, step ${summary.step} of ${summary.steps}`,
  );
  for (const line of await reportLines(run)) print(line);
  for (const { step, policyStep, method, temperature, maxTurns, tasks, replayed } of plans) {
    const ahead = policyStep === undefined ? '' : `, played by the weights after step ${policyStep}`;
    const chosen = [
      ...tasks.map(({ taskId, why }) => `${taskId} (${why})`),
      ...replayed.map(({ taskId, fromStep, why }) => `${taskId} of step ${fromStep} again (${why})`),
    ];
    print(
      printable(
        `step ${step}, ${method}, temperature ${Number(temperature.toFixed(3))}, ${maxTurns} turns${ahead}: ${chosen.join(', ')}`,
      ),
    );
  }
  for (const { finding } of findings) print(`doctor, ${finding.severity}: ${finding.message} ${finding.remedy}`);
  if (trajectories.length > 0) {
    print(
      table(
        ['trajectory', 'reward', 'outcome', 'turns', 'stopped by'],
        trajectories.map((one) => [
          one.id,
          one.reward === null ? '-' : one.reward.toFixed(3),
          one.infrastructureError !== null ? 'infrastructure' : one.resolved ? 'resolved' : 'failed',
          String(one.turns),
          one.stopReason,
        ]),
      ),
    );
  }
}

const idOfLive = async (stateFolder: string) =>
  (await listRuns(stateFolder)).find(({ status }) => status === 'running' || status === 'paused')?.id;

async function setPaused(paused: boolean, id: string | undefined, options: RepoOptions): Promise<void> {
  const stateFolder = await tidiedState(options);
  const runId = id ?? (await idOfLive(stateFolder));
  const handle = runId === undefined ? null : await connectToRun(stateFolder, runId);
  if (handle === null) throw badInput('No training runs.', 'See `whetstone runs list`.');
  try {
    const wished = paused ? 'paused' : 'running';
    const run = openRun(stateFolder, handle.runId);
    const hasCome = reached(handle, async () => (await run.summary()).status === wished);
    if (paused) handle.pause();
    else handle.resume();
    await hasCome;
    const { status } = await run.summary();
    if (options.json) return printJson({ id: handle.runId, status });
    print(`Run ${handle.runId} is ${status}.`);
  } finally {
    handle.dispose();
  }
}

/** Waits until the condition holds, or the training has ended. */
function reached(handle: TrainingHandle, holds: () => Promise<boolean>): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = () => void holds().then((does) => does && resolve(), reject);
    const listening = handle.onChanged(look);
    void handle.exited.then(() => resolve()).finally(() => listening.dispose());
    look();
  });
}

async function stop(id: string | undefined, options: RepoOptions, signal: AbortSignal): Promise<void> {
  const stateFolder = await tidiedState(options);
  const runId = id ?? (await idOfLive(stateFolder));
  const tell = (status: string | null, line: string) =>
    options.json ? printJson({ id: runId ?? null, status }) : print(line);
  if (runId === undefined) return tell(null, 'No training runs.');
  const handle = await connectToRun(stateFolder, runId);
  if (handle === null) {
    return tell((await openRun(stateFolder, runId).summary()).status, `Run ${runId} is not running.`);
  }
  handle.stop();
  const gaveUp = new Promise<null>((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
  const end = await Promise.race([handle.exited, gaveUp]);
  handle.dispose();
  if (end === null)
    throw failed(say`Run ${runId} has been asked to stop and has not yet.`, 'See `whetstone runs list`.');
  tell(
    end.status,
    `Run ${runId} ${end.status === 'stopped' ? 'stopped' : `ended: ${end.status}`}. Go on with \`whetstone train --resume ${runId}\`.`,
  );
}

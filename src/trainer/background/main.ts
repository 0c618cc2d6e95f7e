/**
 * The background process: reads what to train from the first line of its standard input, says in one line on its
 * standard output whether it does, and trains. Clients talk to it over a socket; all that lasts is in the run directory.
 */
import fs from 'node:fs';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { failed, WhetstoneError } from '../../trajectory/errors.js';
import { say, saidOf } from '../../trajectory/said.js';
import { RunControl } from '../run/runControl.js';
import { forgetDeadProcesses } from './processRecord.js';
import { writeFileAtomically } from '../run/storage.js';
import { openTraining, type Training } from '../train.js';
import { trainingRequestSchema, type StartReport, type TrainingRequest } from './protocol.js';
import { startServer, type BackgroundServer } from './server.js';

/** After a wish to stop, how long the orderly end may take before the process ends all the same. */
const stopMilliseconds = 60_000;

async function main(): Promise<void> {
  const control = new RunControl();
  const stop = () => {
    control.stop();
    setTimeout(() => process.exit(1), stopMilliseconds).unref();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', stop);

  let training: Training | null = null;
  let server: BackgroundServer | null = null;
  try {
    const request = await readRequest(stop);
    training = await openTraining({ ...request, control, onChanged: () => server?.changed() });
    await forgetDeadProcesses(training.stateFolder);
    logTo(training.paths.log);
    server = await startServer(training.runId, {
      stop,
      pause: () => control.pause(),
      resume: () => control.resume(),
    });
    await writeFileAtomically(training.paths.process, `${JSON.stringify(server.record)}\n`, 0o600);
    report({ type: 'started', runId: training.runId, runFolder: training.paths.folder });
  } catch (error) {
    const refusal = typed(error);
    report({ type: 'refused', kind: refusal.kind, words: saidOf(refusal), remedy: refusal.remedy });
    await server?.close();
    await training?.dispose();
    return process.exit(1);
  }
  let exitCode = 0;
  try {
    await training.run();
  } catch (error) {
    exitCode = 1;
    process.stderr.write(`${new Date().toISOString()} ${(error as Error).stack}\n`);
    const { kind: errorKind, said } = typed(error);
    server.failed({ errorKind, ...said });
  }
  await training.dispose();
  await rm(training.paths.process, { force: true });
  await server.close();
  process.exit(exitCode);
}

/** The first line of standard input; afterwards, where the owner holds on to this process, its end is a wish to stop. */
async function readRequest(stop: () => void): Promise<TrainingRequest> {
  const lines = createInterface({ input: process.stdin });
  const first = await new Promise<string>((resolve, reject) => {
    lines.once('line', resolve);
    lines.once('close', () => reject(new Error('internal: the background process was given nothing to train')));
  });
  const request = trainingRequestSchema.parse(JSON.parse(first));
  if (request.owner === 'attached') lines.once('close', stop);
  return request;
}

/**
 * Standard error goes to the run's log from here on, with what native code writes to it: who started this process may
 * be gone long before its end. Opening takes the lowest free descriptor, which is the one just closed.
 */
function logTo(file: string): void {
  fs.closeSync(2);
  fs.openSync(file, 'a');
}

function report(startReport: StartReport): void {
  fs.writeSync(1, `${JSON.stringify(startReport)}\n`);
}

function typed(error: unknown): WhetstoneError {
  return error instanceof WhetstoneError ? error : failed(say`internal: ${String((error as Error).stack)}`, '');
}

void main();

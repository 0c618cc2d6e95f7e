import { examineRun } from '../../trainer/doctor/doctor.js';
import type { Finding } from '../../trainer/doctor/finding.js';
import { openRun } from '../../trainer/run/runReader.js';
import { interruptible } from '../interrupt.js';
import { jsonOption, locateState, repoOption, type AddCommand, type RepoOptions } from '../options.js';
import { print, printable, printJson } from '../output.js';

export const addDoctorCommand: AddCommand = (program) => {
  program
    .command('doctor <run>')
    .description(
      'what is wrong with a training, with the evidence and what to change; exit code 1 where it is critical',
    )
    .addOption(repoOption())
    .addOption(jsonOption())
    .action((run: string, options: RepoOptions) => interruptible((signal) => doctor(run, options, signal)));
};

async function doctor(runId: string, options: RepoOptions, signal: AbortSignal): Promise<void> {
  const { stateFolder } = await locateState(options);
  const run = openRun(stateFolder, runId);
  const findings = await examineRun(run, signal);
  if (findings.some(({ severity }) => severity === 'critical')) process.exitCode = 1;
  if (options.json) return printJson({ run: run.id, findings });
  if (findings.length === 0) return print(`Nothing is wrong with run ${run.id}, as far as its record shows.`);
  for (const finding of findings) print(printable(describeFinding(finding)));
}

function describeFinding({ mode, severity, message, evidence, causes, remedy }: Finding): string {
  const { step, trajectoryId, token } = evidence;
  const place = [
    step === null ? '' : `step ${step}`,
    trajectoryId === null ? '' : `trajectory ${trajectoryId}`,
    token === null ? '' : `token ${token}`,
  ].filter((part) => part !== '');
  return [
    `${mode} (${severity}): ${message}`,
    ...(place.length === 0 ? [] : [`  Seen first: ${place.join(', ')}`]),
    ...causes.map((cause) => `  Maybe: ${cause}`),
    `  To do: ${remedy}`,
  ].join('\n');
}

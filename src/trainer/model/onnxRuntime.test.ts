import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runBundled } from '../../../test/support/runBundled.js';

/** What onnxruntime's reporting writes as soon as it is up. */
const trace = (pid: number) => join(tmpdir(), `mat-debug-${pid}.log`);

/** Asks the library, loaded as it is, for a session; that the model is none does not matter. */
function plainUse(env: NodeJS.ProcessEnv): Promise<number> {
  const program = "require('onnxruntime-node').InferenceSession.create(Buffer.from('x')).catch(() => {})";
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, ['-e', program], { env }, (error) =>
      error ? reject(error) : resolve(child.pid!),
    );
  });
}

// Only the Linux builds report.
it.runIf(process.platform === 'linux')('uses onnxruntime without its usage reports', async () => {
  const env = { ...process.env };
  delete env['ORT_DISABLE_TELEMETRY'];
  const reporting = await plainUse(env);
  expect(existsSync(trace(reporting)), 'the control: used as it is, it reports').toBe(true);
  await rm(trace(reporting));
  const pid = Number(await runBundled('test/support/useRuntimeMain.ts', [], { env, timeoutMs: 60_000 }));
  expect(existsSync(trace(pid))).toBe(false);
});

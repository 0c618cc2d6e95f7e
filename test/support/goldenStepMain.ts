import { goldenNames } from './goldenModels.js';
import { goldenStep } from './goldenStep.js';

/** As a program: MODEL DEVICE [TOKENS]. Writes the step as JSON to standard output. */
async function main(name: string, device: string, tokens?: string): Promise<void> {
  const known = goldenNames.find((each) => each === name);
  if (!known || (device !== 'cpu' && device !== 'webgpu')) throw new Error(`usage: MODEL cpu|webgpu [TOKENS]`);
  const microBatchTokens = tokens === undefined ? undefined : Number(tokens);
  process.stdout.write(JSON.stringify(await goldenStep(known, device, microBatchTokens)));
}

void main(process.argv[2], process.argv[3], process.argv[4]).catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});

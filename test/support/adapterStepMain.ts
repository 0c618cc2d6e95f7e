import { adapterStep } from './adapterStep.js';
import { goldenNames } from './goldenModels.js';

/** As a program: MODEL DEVICE. Writes the step as JSON to standard output. */
async function main(name: string, device: string): Promise<void> {
  const known = goldenNames.find((each) => each === name);
  if (!known || (device !== 'cpu' && device !== 'webgpu')) throw new Error(`usage: MODEL cpu|webgpu`);
  process.stdout.write(JSON.stringify(await adapterStep(known, device)));
}

void main(process.argv[2], process.argv[3]).catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});

import { goldenNames } from './goldenModels.js';
import { sessionGradients } from './sessionGradients.js';

/** As a program: MODEL DEVICE. Writes the gradients with layers computed again as JSON to standard output, by number and name. */
async function main(name: string, device: string): Promise<void> {
  const known = goldenNames.find((each) => each === name);
  if (!known || (device !== 'cpu' && device !== 'webgpu')) throw new Error(`usage: MODEL cpu|webgpu`);
  const { found } = await sessionGradients(known, device, { isAdapted: false, recomputed: true });
  process.stdout.write(JSON.stringify(Object.fromEntries([...found].map(([key, values]) => [key, [...values]]))));
}

void main(process.argv[2], process.argv[3]).catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});

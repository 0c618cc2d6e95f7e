import { emitModel } from '../../src/trainer/graph/emit.js';
import { Graph } from '../../src/trainer/graph/graph.js';
import { DeviceTensors } from '../../src/trainer/model/deviceTensors.js';
import { InferenceSession, sessionOptions, Tensor } from '../../src/trainer/model/onnxRuntime.js';

export interface Rewritten {
  /** What lies there in the end, as another session reads it. */
  readonly last: number;
  /** Megabytes of memory of the process, which a device in software has its own in, that came with overwriting. */
  readonly grownBy: number;
}

/** As a program: MEGABYTES TIMES. Overwrites a matrix on WebGPU so often, and writes `Rewritten` as JSON to standard output. */
async function main(megabytes: number, times: number): Promise<void> {
  const device = new DeviceTensors('webgpu');
  const values = new Float32Array(megabytes * 2 ** 18);
  const matrix = new Tensor('float32', values, [2 ** 8, megabytes * 2 ** 10]);
  const resident = await device.put(matrix);
  const memory = () => process.memoryUsage().rss / 2 ** 20;
  const before = memory();
  for (let time = 1; time <= times; time++) {
    values.fill(time);
    await device.rewrite(resident, matrix);
  }
  const grownBy = memory() - before;
  const reader = await InferenceSession.create(
    emitModel(new Map([['read', new Graph().input('there', ['rows', 'columns'])]]), 'webgpu'),
    sessionOptions('webgpu', 1),
  );
  const read = (await reader.run({ there: resident }))['read']!.data as Float32Array;
  const last = read.every((value) => value === read[0]) ? read[0] : NaN;
  await reader.release();
  resident.dispose();
  await device.release();
  process.stdout.write(JSON.stringify({ last, grownBy } satisfies Rewritten));
}

void main(Number(process.argv[2]), Number(process.argv[3])).catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});

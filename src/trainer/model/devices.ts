import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { badInput } from '../../trajectory/errors.js';
import './noTelemetry.js';
import { emitModel } from '../graph/emit.js';
import { Graph } from '../graph/graph.js';

/** Onnxruntime's providers that a policy can be trained on. */
export const deviceNames = ['cpu', 'webgpu'] as const;
export type DeviceName = (typeof deviceNames)[number];

export interface Device {
  readonly name: DeviceName;
  readonly available: boolean;
  /** Billions of float32 operations a second on matrix products, transfers included; null where unavailable. */
  readonly gflops: number | null;
  /** Why it is not available, in one line. */
  readonly reason: string | null;
}

/** A graphics processor must be this much faster than the CPU: with small models its launches cost more than it saves. */
const worthwhileSpeedup = 2;
const probeTimeoutMs = 60_000;
const products = 4;
const sizes = [128, 256, 512, 1024];

/** Tries every device with a few matrix products. A driver may crash on its first use, so each has a process of its own. */
export async function listDevices(): Promise<Device[]> {
  const devices: Device[] = [];
  for (const name of deviceNames) devices.push(await probe(name));
  return devices;
}

/** The device to train on: what was asked for, or by `auto` the fastest. Throws `bad-input` where it is not available. */
export async function chooseDevice(wanted: 'auto' | DeviceName): Promise<DeviceName> {
  if (wanted === 'cpu') return 'cpu';
  const webgpu = await probe('webgpu');
  if (wanted === 'webgpu') {
    if (webgpu.available) return 'webgpu';
    throw badInput(`This machine has no device "webgpu": ${webgpu.reason}`, 'Use --device cpu.');
  }
  if (webgpu.gflops === null) return 'cpu';
  const cpu = await probe('cpu');
  return webgpu.gflops > worthwhileSpeedup * (cpu.gflops ?? 0) ? 'webgpu' : 'cpu';
}

/**
 * Runs in the child: argv holds the path of onnxruntime-node, the device, the model in base 64 and the sizes to try,
 * growing until one takes long enough to measure. Writes the size and the milliseconds.
 */
const program = `
const [runtime, device, model, ...sizes] = process.argv.slice(1);
const { InferenceSession, Tensor } = require(runtime);
(async () => {
  const options = { executionProviders: [device], logSeverityLevel: 4 };
  const session = await InferenceSession.create(Buffer.from(model, 'base64'), options);
  let size, best;
  for (size of sizes.map(Number)) {
    const feeds = { a: new Tensor('float32', new Float32Array(size * size).fill(1 / size), [size, size]) };
    best = Infinity;
    for (let run = 0; run < 4; run++) {
      const start = performance.now();
      await session.run(feeds);
      // The first run compiles.
      if (run > 0) best = Math.min(best, performance.now() - start);
    }
    if (best > 100) break;
  }
  process.stdout.write(size + ' ' + best);
})().catch((error) => {
  process.stderr.write('\\nreason: ' + String(error.message).replace(/\\s+/g, ' '));
  process.exitCode = 1;
});
`;

async function probe(name: DeviceName): Promise<Device> {
  const runtime = createRequire(import.meta.url).resolve('onnxruntime-node');
  const model = Buffer.from(productsModel()).toString('base64');
  try {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['-e', program, runtime, name, model, ...sizes.map(String)],
      // In the extension host the executable is Electron, which must be told to be Node.
      { timeout: probeTimeoutMs, killSignal: 'SIGKILL', env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' } },
    );
    const [size, milliseconds] = stdout.split(' ').map(Number);
    const gflops = (products * 2 * size ** 3) / (milliseconds * 1e6);
    return { name, available: true, gflops: Math.round(gflops * 10) / 10, reason: null };
  } catch (error) {
    return { name, available: false, gflops: null, reason: reasonOf(error) };
  }
}

/** a, multiplied by itself again and again. */
function productsModel(): Uint8Array {
  const graph = new Graph();
  const a = graph.input('a', ['size', 'size']);
  let product = a;
  for (let i = 0; i < products; i++) product = graph.matmul(product, a);
  return emitModel(new Map([['product', product]]));
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { killed, signal, stderr } = error as { killed?: boolean; signal?: string; stderr?: string };
  if (killed) return `it gave no answer within ${probeTimeoutMs / 1000} seconds`;
  if (signal) return `its driver crashed (${signal})`;
  const reason = /reason: (.*)$/s.exec(stderr ?? '')?.[1] ?? error.message.split('\n')[0];
  // Onnxruntime puts the place in its own source first.
  return reason
    .replace(/^.* was false\. /, '')
    .trim()
    .slice(0, 300);
}

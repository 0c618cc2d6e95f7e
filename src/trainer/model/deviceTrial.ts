import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { isShapeNode } from '../graph/emit.js';
import type { Provider } from '../graph/provider.js';
import { copyModel, keepsTensors } from './deviceTensors.js';
import './noTelemetry.js';
import {
  chainedProducts,
  decodedRows,
  decoderModel,
  decoderWeights,
  productsModel,
  stepFeeds,
  stepModel,
} from './trialModels.js';

/** What a device showed of itself. */
export interface DeviceTrial {
  /** Billions of float32 operations a second on matrix products, transfers included. */
  readonly gflops: number;
  /**
   * Billions of bytes of weights a second that a decoder's products get through, which are fed all weights for each token, from the
   * device where that keeps them.
   */
  readonly decodedGigabytes: number;
  /** The largest difference of a step's log-probabilities and gradients from the CPU's, relative to the largest value; 0 for the CPU. */
  readonly error: number;
  readonly placement: Placement;
}

/** Where onnxruntime computes the nodes of the graph of a step of learning. */
export interface Placement {
  readonly onDevice: number;
  /** Nodes that only compute shapes: onnxruntime wants them on the CPU, where their results are needed. */
  readonly shapes: number;
  /** Operators of the other nodes that the device's provider does not take, with how often. */
  readonly fallen: Readonly<Record<string, number>>;
}

const timeoutMs = 120_000;
const sizes = [128, 256, 512, 1024];
/** The largest weights fill 64 MiB, more than most caches hold. */
const decoderSizes = [256, 512, 1024, 2048];

/** What the programs of both trials do, given onnxruntime: how far a step's results are from the CPU's. */
const ofStep = `
const create = (model, device, logSeverityLevel, more = {}) =>
  InferenceSession.create(Buffer.from(model, 'base64'), { executionProviders: [device], logSeverityLevel, ...more });
const arrays = { float32: Float32Array, float16: Uint16Array, int32: Int32Array };
const runStep = async (session, feeds) => {
  const tensors = feeds.map(({ name, type, dims, data }) => [name, new Tensor(type, arrays[type].from(data), dims)]);
  return session.run(Object.fromEntries(tensors.filter(([name]) => session.inputNames.includes(name))));
};
const stepError = (found, wanted) => {
  let error = 0;
  for (const [name, { data }] of Object.entries(wanted)) {
    let [difference, largest] = [0, 0];
    data.forEach((value, index) => {
      const apart = Math.abs(value - found[name].data[index]);
      difference = Number.isNaN(apart) ? Infinity : Math.max(difference, apart);
      largest = Math.max(largest, Math.abs(value));
    });
    error = Math.max(error, largest === 0 ? difference : difference / largest);
  }
  return Math.min(error, Number.MAX_VALUE);
};
const fail = (error) => {
  process.stderr.write('\\nreason: ' + String(error.message).replace(/\\s+/g, ' '));
  process.exitCode = 1;
};
`;

/**
 * Runs in the child. Standard input: the path of onnxruntime-node, the device, models in base 64 (that which copies a tensor to the
 * device only where it stays there), the number of a decoder's weights and rows, the feeds of a step and the sizes of products to try,
 * growing until one takes long enough to measure. What is logged of the step tells the placement.
 */
const program = `
const { runtime, device, products, copy, decoder, rows, weights, step, cpuStep, feeds, sizes, decoderSizes } = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const { InferenceSession, Tensor } = require(runtime);
${ofStep}
const full = (rows, columns) =>
  new Tensor('float32', new Float32Array(rows * columns).fill(1 / columns), [rows, columns]);
const fastest = async (session, feeds) => {
  let best = Infinity;
  for (let run = 0; run < 4; run++) {
    const start = performance.now();
    await session.run(feeds);
    // The first run compiles.
    if (run > 0) best = Math.min(best, performance.now() - start);
  }
  return best;
};
(async () => {
  const session = await create(products, device, 4);
  let size, best;
  for (size of sizes) {
    best = await fastest(session, { a: full(size, size) });
    if (best > 100) break;
  }
  const keeper = copy && (await create(copy, device, 4, { preferredOutputLocation: 'gpu-buffer' }));
  const placed = async (tensor) => (keeper ? (await keeper.run({ given: tensor })).kept : tensor);
  const decoding = await create(decoder, device, 4);
  let decodedSize, decoded;
  for (decodedSize of decoderSizes) {
    const feeds = { states: full(rows, decodedSize) };
    for (let index = 0; index < weights; index++) feeds['w' + index] = await placed(full(decodedSize, decodedSize));
    decoded = await fastest(decoding, feeds);
    if (decoded > 20) break;
  }
  const found = await runStep(await create(step, device, 0), feeds);
  const error = stepError(found, await runStep(await create(cpuStep, 'cpu', 4), feeds));
  process.stdout.write(JSON.stringify({ size, milliseconds: best, decodedSize, decoded, error }));
})().catch(fail);
`;

/** Runs in the child, for the step in float16 alone; the CPU's is float32. */
const float16Program = `
const { runtime, device, step, feeds, cpuStep, cpuFeeds } = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const { InferenceSession, Tensor } = require(runtime);
${ofStep}
(async () => {
  const found = await runStep(await create(step, device, 4), feeds);
  const error = stepError(found, await runStep(await create(cpuStep, 'cpu', 4), cpuFeeds));
  process.stdout.write(JSON.stringify({ error }));
})().catch(fail);
`;

const runtimePath = () => createRequire(import.meta.url).resolve('onnxruntime-node');
const base64 = (model: Uint8Array) => Buffer.from(model).toString('base64');

/**
 * Tries a device: its speed on matrix products, and whether a step of learning comes out as on the CPU. A driver may crash on its
 * first use, so the trial has a process of its own. Rejects with a `DeviceFailure`.
 */
export async function tryDevice(device: Provider): Promise<DeviceTrial> {
  const input = JSON.stringify({
    runtime: runtimePath(),
    device,
    products: base64(productsModel()),
    copy: keepsTensors(device) ? base64(copyModel('float32', 2, device)) : null,
    decoder: base64(decoderModel()),
    rows: decodedRows,
    weights: decoderWeights,
    step: base64(stepModel(device)),
    cpuStep: base64(stepModel('cpu')),
    feeds: stepFeeds(),
    sizes,
    decoderSizes,
  });
  const { stdout, log } = await runChild(program, input);
  const { size, milliseconds, decodedSize, decoded, error } = JSON.parse(stdout) as Record<
    'size' | 'milliseconds' | 'decodedSize' | 'decoded' | 'error',
    number
  >;
  const gflops = (chainedProducts * 2 * size ** 3) / (milliseconds * 1e6);
  const decodedGigabytes = (decoderWeights * 4 * decodedSize ** 2) / (decoded * 1e6);
  const rounded = (value: number) => Number(value.toPrecision(3));
  return {
    gflops: rounded(gflops),
    decodedGigabytes: rounded(decodedGigabytes),
    error,
    placement: placementIn(log),
  };
}

/**
 * Tries a step of learning of an adapter on top of float16 matrices, in a process of its own as `tryDevice` does: the largest
 * difference of its log-probabilities and gradients from those of float32 on the CPU, relative to the largest value. Rejects with a
 * `DeviceFailure`.
 */
export async function tryFloat16(device: Provider): Promise<number> {
  const input = JSON.stringify({
    runtime: runtimePath(),
    device,
    step: base64(stepModel(device, true, 'float16')),
    feeds: stepFeeds(true, 'float16'),
    cpuStep: base64(stepModel('cpu', true)),
    cpuFeeds: stepFeeds(true),
  });
  const { stdout } = await runChild(float16Program, input);
  return (JSON.parse(stdout) as { error: number }).error;
}

/** Why a device cannot be used, in one line. */
export class DeviceFailure extends Error {}

function runChild(program: string, input: string): Promise<{ stdout: string; log: string }> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      ['-e', program],
      {
        timeout: timeoutMs,
        killSignal: 'SIGKILL',
        maxBuffer: 2 ** 26,
        // In the extension host the executable is Electron, which must be told to be Node.
        env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
      },
      (error, stdout, stderr) => {
        if (error === null) resolve({ stdout, log: stderr });
        else reject(new DeviceFailure(reasonOf(error, stderr), { cause: error }));
      },
    );
    // A child that ended early does not read; its exit tells why.
    child.stdin!.on('error', () => undefined);
    child.stdin!.end(input);
  });
}

function reasonOf(error: Error & { killed?: boolean; signal?: string | null }, stderr: string): string {
  if (error.killed) return `it gave no answer within ${timeoutMs / 1000} seconds`;
  if (error.signal) return `its driver crashed (${error.signal})`;
  const reason = /\nreason: ([^\n]*)$/.exec(stderr)?.[1] ?? error.message.split('\n')[0];
  // Onnxruntime puts the place in its own source first.
  return reason
    .replace(/^.* was false\. /, '')
    .trim()
    .slice(0, 300);
}

/**
 * Reads onnxruntime's log of where a session's nodes went: `Node(s) placed on [X]` with a line `Operator (name)` for each, or
 * `All nodes placed on [X]` with their number alone.
 */
export function placementIn(log: string): Placement {
  let [onDevice, shapes, isCpu] = [0, 0, false];
  const fallen: Record<string, number> = {};
  const all = /All nodes placed on \[(\w+)\]\. Number of nodes: (\d+)/.exec(log);
  if (all) return { onDevice: Number(all[2]), shapes, fallen };
  for (const line of log.split('\n')) {
    const message = /VerifyEachNodeIsAssignedToAnEp\] +(.*)$/.exec(line)?.[1] ?? '';
    const heading = /placed on \[(\w+)\]/.exec(message);
    const node = /^(\w+) \((.*)\)$/.exec(message);
    if (heading) isCpu = heading[1] === 'CPUExecutionProvider';
    else if (node && !isCpu) onDevice++;
    else if (node && isShapeNode(node[2])) shapes++;
    else if (node) fallen[node[1]] = (fallen[node[1]] ?? 0) + 1;
  }
  return { onDevice, shapes, fallen };
}

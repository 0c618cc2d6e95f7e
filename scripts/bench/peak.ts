import { emitModel } from '../../src/trainer/graph/emit.js';
import { Graph } from '../../src/trainer/graph/graph.js';
import type { Provider } from '../../src/trainer/graph/provider.js';
import { InferenceSession, Tensor } from '../../src/trainer/model/onnxRuntime.js';

const size = 1024;
const products = 16;

/** A lone product of two large matrices, again and again: the most that this runtime gets out of the machine. */
export class Peak {
  /** Floating-point operations of one `run`. */
  readonly operations = 2 * size ** 3 * products;
  private readonly feeds = { a: new Tensor('float32', new Float32Array(size * size).fill(1 / size), [size, size]) };

  private constructor(private readonly session: InferenceSession) {}

  static async create(device: Provider, threads: number): Promise<Peak> {
    const graph = new Graph();
    const a = graph.input('a', [size, size]);
    let product = a;
    for (let i = 0; i < products; i++) product = graph.matmul(product, a);
    const session = await InferenceSession.create(emitModel(new Map([['product', product]])), {
      executionProviders: [device],
      intraOpNumThreads: threads,
      logSeverityLevel: 3,
      extra: { session: { intra_op: { allow_spinning: '0' } } },
    });
    const peak = new Peak(session);
    await peak.run();
    return peak;
  }

  async run(): Promise<void> {
    await this.session.run(this.feeds);
  }

  dispose(): Promise<void> {
    return this.session.release();
  }
}

/** The one door to onnxruntime-node: what must be settled before the library is loaded is imported first. */
import './noTelemetry.js';
import type { InferenceSession } from 'onnxruntime-node';
import type { Provider } from '../graph/provider.js';

export { InferenceSession, Tensor } from 'onnxruntime-node';

/**
 * How learner and generator compute on a device. What a session on the CPU has once taken it keeps for its next run, which is fast,
 * unless `keepsMemory` is false.
 */
export const sessionOptions = (
  device: Provider,
  threads: number,
  keepsMemory = true,
): InferenceSession.SessionOptions => ({
  executionProviders: [device],
  enableCpuMemArena: keepsMemory,
  graphOptimizationLevel: 'all',
  intraOpNumThreads: threads,
  interOpNumThreads: 1,
  executionMode: 'sequential',
  // DirectML plans its memory itself and refuses a session that does.
  enableMemPattern: device !== 'dml',
  logSeverityLevel: 3,
  // Threads that wait by spinning take the cores from the tests and tools that run beside.
  extra: { session: { intra_op: { allow_spinning: '0' } } },
});

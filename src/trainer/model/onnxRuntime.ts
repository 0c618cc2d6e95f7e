/** The one door to onnxruntime-node: what must be settled before the library is loaded is imported first. */
import './noTelemetry.js';
export { InferenceSession, Tensor } from 'onnxruntime-node';

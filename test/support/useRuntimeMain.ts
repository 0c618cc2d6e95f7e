import { InferenceSession } from '../../src/trainer/model/onnxRuntime.js';

void InferenceSession.create(Buffer.from('x')).catch(() => process.stdout.write(String(process.pid)));

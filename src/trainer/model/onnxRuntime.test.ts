import { expect, it } from 'vitest';

it('switches the usage reports off before it loads onnxruntime', async () => {
  delete process.env['ORT_DISABLE_TELEMETRY'];
  await import('./noTelemetry.js');
  expect(process.env['ORT_DISABLE_TELEMETRY']).toBe('1');
  const { InferenceSession } = await import('./onnxRuntime.js');
  expect(typeof InferenceSession.create).toBe('function');
});

/** Onnxruntime's execution providers that a graph can be written for and a policy trained on. */
export const providers = ['cpu', 'webgpu', 'cuda', 'dml', 'coreml'] as const;
export type Provider = (typeof providers)[number];

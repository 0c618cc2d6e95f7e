import { expect, it } from 'vitest';
import { autoDevice } from './autoDevice.js';

it('takes the fastest device, and the CPU where no other is worth it', () => {
  const cpu = { name: 'cpu', gflops: 100 } as const;
  expect(autoDevice([cpu])).toBe('cpu');
  expect(autoDevice([cpu, { name: 'webgpu', gflops: 200 }, { name: 'cuda', gflops: null }])).toBe('cpu');
  expect(autoDevice([cpu, { name: 'webgpu', gflops: 201 }])).toBe('webgpu');
  expect(autoDevice([cpu, { name: 'webgpu', gflops: 900 }, { name: 'cuda', gflops: 1000 }])).toBe('cuda');
});

import { rm } from 'node:fs/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { hasSoftwareVulkan, softwareVulkan } from '../../../test/support/softwareVulkan.js';
import { DeviceFailure, placementIn, tryDevice } from './deviceTrial.js';

afterEach(() => vi.unstubAllEnvs());

const skip = !hasSoftwareVulkan && !process.env['CI'];

describe('a device on trial', { timeout: 200_000 }, () => {
  // In continuous integration the device must be there.
  it.skipIf(skip)('takes the step of learning as the CPU does, and no node of it but shapes falls off', async () => {
    const { env, folder } = await softwareVulkan();
    try {
      for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
      const { gflops, error, placement } = await tryDevice('webgpu');
      expect(gflops).toBeGreaterThan(0);
      // Not the CPU's own sums, and close to them.
      expect(error).toBeGreaterThan(0);
      expect(error).toBeLessThan(1e-4);
      expect(placement.onDevice).toBeGreaterThan(100);
      expect(placement.shapes).toBeGreaterThan(0);
      expect(placement.fallen).toEqual({});
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is the CPU itself, with every node there', async () => {
    const { error, placement } = await tryDevice('cpu');
    expect(error).toBe(0);
    expect(placement.onDevice).toBeGreaterThan(100);
    expect(placement.fallen).toEqual({});
  });

  it.runIf(process.platform === 'linux')('fails with a reason in one line', async () => {
    const failure: unknown = await tryDevice('cuda').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DeviceFailure);
    expect((failure as Error).message).toMatch(/^\S[^\n]*(library|CUDA)[^\n]*$/i);
  });
});

describe('the placement in a log', () => {
  const line = (rest: string) =>
    `2026-01-02 03:04:05.678 [V:onnxruntime:, session_state.cc:1385 VerifyEachNodeIsAssignedToAnEp] ${rest}`;

  it('tells nodes that compute shapes from those that fall off', () => {
    const log = [
      line('Node placements'),
      line(' Node(s) placed on [CPUExecutionProvider]. Number of nodes: 4'),
      line('  Concat (shape_e4)'),
      line('  Div (dim_e2)'),
      line('  ScatterElements (addAt_9)'),
      line('  ScatterElements (addAt_12)'),
      line(' Node(s) placed on [CoreMLExecutionProvider]. Number of nodes: 2'),
      line('  Gemm (matmul_34)'),
      line('  Concat (shape_e5)'),
      'a line of something else (x)',
    ];
    expect(placementIn(log.join('\n'))).toEqual({ onDevice: 2, shapes: 2, fallen: { ScatterElements: 2 } });
  });

  it('is whole where all nodes went to one place', () => {
    expect(placementIn(line('All nodes placed on [CPUExecutionProvider]. Number of nodes: 557'))).toEqual({
      onDevice: 557,
      shapes: 0,
      fallen: {},
    });
  });
});

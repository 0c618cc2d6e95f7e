import { rm } from 'node:fs/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { hasSoftwareVulkan, softwareVulkan } from '../../../test/support/softwareVulkan.js';
import { WhetstoneError } from '../../trajectory/errors.js';
import { checkPrecision, chooseDevice, listDevices } from './devices.js';
import { tryFloat16 } from './deviceTrial.js';

afterEach(() => vi.unstubAllEnvs());

// In continuous integration the device must be there; it has no float16.
const skipVulkan = !hasSoftwareVulkan && !process.env['CI'];

describe('devices', () => {
  it('are listed with their measured speed, or with the reason why they cannot be used', async () => {
    const devices = await listDevices();
    expect(devices.map(({ name }) => name)).toEqual(['cpu', 'webgpu', 'cuda', 'dml', 'coreml']);
    expect(devices[0].available).toBe(true);
    for (const { available, gflops, decodedGigabytes, placement, reason, remedy } of devices) {
      if (available) expect(Math.min(gflops!, decodedGigabytes!)).toBeGreaterThan(0);
      else expect(`${reason}. ${remedy}`).toMatch(/^\S.*[^.]\. [A-Z].*\.$/);
      expect([reason === null, remedy === null, placement !== null]).toEqual([available, available, available]);
    }
  });

  it.runIf(process.platform === 'linux')('that are missing are refused by name, and passed over by auto', async () => {
    vi.stubEnv('VK_ICD_FILENAMES', '/nonexistent.json');
    vi.stubEnv('VK_DRIVER_FILES', '/nonexistent.json');
    const refusal: unknown = await chooseDevice('webgpu').catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(WhetstoneError);
    expect((refusal as WhetstoneError).exitCode).toBe(2);
    expect((refusal as WhetstoneError).line).toMatch(/no device "webgpu": .*adapter.*Vulkan.* Or use --device cpu\.$/);
    expect(await chooseDevice('auto')).toBe('cpu');
  });

  it('compute in float16 where they can: the CPU by way of float32', async () => {
    expect(await tryFloat16('cpu')).toBeGreaterThan(1e-5);
    await checkPrecision('cpu', 'float16');
  });

  it.skipIf(skipVulkan)(
    'without float16 are refused for it by name, and not for float32',
    { timeout: 100_000 },
    async () => {
      const { env, folder } = await softwareVulkan();
      try {
        for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
        await checkPrecision('webgpu', 'float32');
        const refusal: unknown = await checkPrecision('webgpu', 'float16').catch((error: unknown) => error);
        expect(refusal).toBeInstanceOf(WhetstoneError);
        expect((refusal as WhetstoneError).exitCode).toBe(2);
        expect((refusal as WhetstoneError).line).toMatch(
          /^The device "webgpu" does not learn in float16: [^\n]*f16[^\n]*\. Use --precision float32\.$/,
        );
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  );

  it.runIf(process.platform === 'linux')('of other systems are refused with the system that has them', async () => {
    for (const [name, system] of [
      ['dml', 'Windows'],
      ['coreml', 'macOS'],
    ] as const) {
      const refusal: unknown = await chooseDevice(name).catch((error: unknown) => error);
      expect((refusal as WhetstoneError).line).toMatch(
        new RegExp(`"${name}": .*${system} only\\. Use --device webgpu`),
      );
    }
  });
});

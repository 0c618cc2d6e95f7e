import { afterEach, describe, expect, it, vi } from 'vitest';
import { WhetstoneError } from '../../trajectory/errors.js';
import { chooseDevice, listDevices } from './devices.js';

afterEach(() => vi.unstubAllEnvs());

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

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WhetstoneError } from '../../trajectory/errors.js';
import { DeviceTensors } from './deviceTensors.js';
import { CopiedTensors } from './deviceTensors.testing.js';
import { Tensor } from './onnxRuntime.js';
import { ResidentFeeds } from './residentFeeds.js';

const trained = new Set(['a', 'b']);

function here() {
  const arrays = { a: Float32Array.of(1, 2), b: Float32Array.of(3), table: Float32Array.of(4, 5) };
  const feeds = Object.fromEntries(
    Object.entries(arrays).map(([name, values]) => [name, new Tensor('float32', values, [values.length])]),
  );
  return { arrays, feeds };
}

const numbers = ({ feeds }: ResidentFeeds) =>
  Object.fromEntries(Object.entries(feeds).map(([name, { data }]) => [name, [...(data as Float32Array)]]));

describe('feeds on a device', () => {
  it('follow what is trained, once after a change for all who ask, in the same tensors', async () => {
    const { arrays, feeds } = here();
    const device = new CopiedTensors();
    const resident = await ResidentFeeds.create(feeds, trained, device);
    const before = { ...resident.feeds };
    await resident.current();
    expect([device.kept.size, device.rewritten]).toEqual([3, 0]);
    arrays.a[1] = 7;
    expect(numbers(resident)).toEqual({ a: [1, 2], b: [3], table: [4, 5] });
    resident.changed();
    await Promise.all([resident.current(), resident.current(), resident.current()]);
    await resident.current();
    expect(numbers(resident)).toEqual({ a: [1, 7], b: [3], table: [4, 5] });
    expect([device.kept.size, device.rewritten]).toEqual([3, 2]);
    expect(resident.feeds).toEqual(before);
    await resident.dispose();
    expect([device.kept.size, device.released]).toEqual([0, true]);
  });

  it('leave alone what lies on a device already', async () => {
    const { feeds } = here();
    const shared = new CopiedTensors();
    const there = await shared.put(feeds.table!);
    Object.defineProperty(there, 'location', { value: 'gpu-buffer' });
    const device = new CopiedTensors();
    const resident = await ResidentFeeds.create({ ...feeds, table: there }, trained, device);
    expect(resident.feeds.table).toBe(there);
    expect(device.kept.size).toBe(2);
    await resident.dispose();
    expect(shared.kept.size).toBe(1);
  });

  it('are what is kept here whenever they are said to be, whatever changed and failed before', async () => {
    const event = fc.constantFrom('change', 'ask', 'wait', 'fill', 'empty');
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 30 }), async (events) => {
        const { arrays, feeds } = here();
        const device = new CopiedTensors();
        const resident = await ResidentFeeds.create(feeds, trained, device);
        const asked: Promise<unknown>[] = [];
        let changes = 0;
        for (const each of events) {
          if (each === 'change') {
            arrays.a.fill(++changes);
            resident.changed();
          } else if (each === 'ask') asked.push(resident.current().catch((error: unknown) => error));
          else if (each === 'wait') await Promise.all(asked);
          else device.room = each === 'fill' ? 0 : Infinity;
        }
        for (const failure of (await Promise.all(asked)).filter((one) => one !== undefined))
          expect(failure).toBeInstanceOf(WhetstoneError);
        device.room = Infinity;
        await resident.current();
        expect(numbers(resident).a).toEqual([...arrays.a]);
        expect(device.kept.size).toBe(3);
      }),
      { numRuns: 50 },
    );
  });

  it('are tried again after the device refused them', async () => {
    const { arrays, feeds } = here();
    const device = new CopiedTensors();
    const resident = await ResidentFeeds.create(feeds, trained, device);
    arrays.b[0] = 9;
    resident.changed();
    device.room = 1;
    await expect(resident.current()).rejects.toMatchObject({ kind: 'infrastructure' });
    device.room = Infinity;
    await resident.current();
    expect(numbers(resident).b).toEqual([9]);
  });

  it('leave nothing there where not all of them fit', async () => {
    const device = new CopiedTensors();
    device.room = 2;
    await expect(ResidentFeeds.create(here().feeds, trained, device)).rejects.toMatchObject({ kind: 'infrastructure' });
    expect([device.kept.size, device.released]).toEqual([0, true]);
  });
});

describe('tensors on a device', () => {
  it('say in one line that the device takes none', async () => {
    // Neither of them is on both platforms.
    const absent = process.platform === 'win32' ? 'coreml' : 'dml';
    const device = new DeviceTensors(absent);
    const tensor = new Tensor('float32', Float32Array.of(1, 2), [1, 2]);
    for (const attempt of [() => device.put(tensor), () => device.rewrite(tensor, tensor)]) {
      const failure: unknown = await attempt().catch((error: unknown) => error);
      expect(failure).toMatchObject({ kind: 'infrastructure' });
      expect((failure as WhetstoneError).line).toMatch(
        new RegExp(`^The model's weights cannot be put on '${absent}': .+\\. Free memory .* try --device cpu\\.$`),
      );
    }
    await device.release();
  });
});

import { expect, test } from 'vitest';
import { Slots } from './slots.js';

const never = new AbortController().signal;
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('so many at a time, first come first served', async () => {
  const slots = new Slots(2);
  const ends: (() => void)[] = [];
  const started: number[] = [];
  const works = [0, 1, 2, 3].map((number) =>
    slots.run(never, () => {
      started.push(number);
      return new Promise<void>((resolve) => ends.push(resolve));
    }),
  );
  await turn();
  expect(started).toEqual([0, 1]);
  ends[1]!();
  await turn();
  expect(started).toEqual([0, 1, 2]);
  for (let index = 0; index < 4; index++) {
    ends[index]!();
    await turn();
  }
  await Promise.all(works);
  expect(started).toEqual([0, 1, 2, 3]);
});

test('a failure gives its slot back', async () => {
  const slots = new Slots(1);
  await expect(slots.run(never, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await slots.run(never, () => Promise.resolve(1))).toBe(1);
});

test('who is cancelled leaves the queue, and the others go on', async () => {
  const slots = new Slots(1);
  let end = () => {};
  const first = slots.run(never, () => new Promise<void>((resolve) => (end = resolve)));
  const abort = new AbortController();
  const cancelledOne = slots.run(abort.signal, () => Promise.reject(new Error('it ran')));
  const third = slots.run(never, () => Promise.resolve('third'));
  abort.abort();
  await expect(cancelledOne).rejects.toMatchObject({ kind: 'cancelled' });
  end();
  await first;
  expect(await third).toBe('third');
  await expect(slots.run(abort.signal, () => Promise.resolve())).rejects.toMatchObject({ kind: 'cancelled' });
});

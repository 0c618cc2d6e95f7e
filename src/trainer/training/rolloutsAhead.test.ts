import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RolloutsAhead } from './rolloutsAhead.js';

/** A promise that is settled from outside. */
function deferred<T>() {
  let [resolve, reject]: [(value: T) => void, (error: Error) => void] = [() => undefined, () => undefined];
  const promise = new Promise<T>((...both) => ([resolve, reject] = both));
  return { promise, resolve, reject };
}

/** Lets everybody go on who can. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

interface Play {
  readonly step: number;
  readonly policyStep: number;
  readonly weights: string;
  readonly signal: AbortSignal;
  readonly end: (error?: Error) => void;
}

/** A player whose plays end when they are told to. */
function stage({ firstStep = 1, lastStep = 6, maxStaleness = 1, began = 0 } = {}) {
  const plays: Play[] = [];
  const owner = new AbortController();
  const rollouts = new RolloutsAhead<string, string>({
    firstStep,
    lastStep,
    policyStepOf: (step) => Math.max(began, step - 1 - maxStaleness),
    play: (step, policyStep, weights, signal) => {
      const { promise, resolve, reject } = deferred<string>();
      signal.addEventListener('abort', () => reject(new Error('let go')));
      const end = (error?: Error) => (error ? reject(error) : resolve(`${step} by ${weights}`));
      plays.push({ step, policyStep, weights, signal, end });
      return promise;
    },
    signal: owner.signal,
  });
  const publish = (step: number) => rollouts.publish(step, () => `weights ${step}`);
  return { rollouts, plays, publish, stop: () => owner.abort() };
}

describe('rollouts that are played ahead', () => {
  it('are by turns where nothing may be stale', async () => {
    const { rollouts, plays, publish } = stage({ maxStaleness: 0 });
    publish(0);
    await turn();
    expect(plays.map(({ step, weights }) => [step, weights])).toEqual([[1, 'weights 0']]);
    plays[0].end();
    expect(await rollouts.take(1)).toBe('1 by weights 0');
    await turn();
    // The learner learns, and nobody plays.
    expect(plays).toHaveLength(1);
    expect(rollouts.isSettled(1)).toBe(true);
    publish(1);
    await turn();
    expect(plays.map(({ step, weights }) => [step, weights])[1]).toEqual([2, 'weights 1']);
    await rollouts.close();
  });

  it('go on while the learner learns, and wait for it where its weights would be too old', async () => {
    const { rollouts, plays, publish } = stage();
    publish(0);
    await turn();
    plays[0].end();
    expect(await rollouts.take(1)).toBe('1 by weights 0');
    await turn();
    // While step 1 is learned from, step 2 is played by the weights before it.
    expect(plays.map(({ step, weights }) => [step, weights])[1]).toEqual([2, 'weights 0']);
    plays[1].end();
    await turn();
    expect(plays).toHaveLength(2);
    publish(1);
    await turn();
    expect(plays.map(({ step, weights }) => [step, weights])[2]).toEqual([3, 'weights 1']);
    await rollouts.close();
  });

  it('are played by the same weights whoever is faster, in order, and never by too old ones', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 3 }),
        fc.integer({ min: 1, max: 9 }),
        fc.array(fc.boolean(), { minLength: 60, maxLength: 60 }),
        async (maxStaleness, lastStep, whoGoesOn) => {
          const { rollouts, plays, publish } = stage({ maxStaleness, lastStep });
          const learned: string[] = [];
          const learner = (async () => {
            for (let step = 1; step <= lastStep; step++) {
              publish(step - 1);
              const played = await rollouts.take(step);
              for (let wait = 0; whoGoesOn[(7 * step + wait) % 60] && wait < 5; wait++) await turn();
              learned.push(played);
            }
          })();
          for (let at = 0; learned.length < lastStep; at++) {
            // Nothing is played that the learner could not learn from in time.
            expect(plays.length - learned.length).toBeLessThanOrEqual(maxStaleness + 1);
            if (at >= 60 || whoGoesOn[at]) plays.at(-1)?.end();
            await turn();
          }
          await learner;
          const steps = Array.from({ length: lastStep }, (_, index) => index + 1);
          expect(learned).toEqual(steps.map((step) => `${step} by weights ${Math.max(0, step - 1 - maxStaleness)}`));
          expect(plays.map(({ step }) => step)).toEqual(steps);
          await rollouts.close();
        },
      ),
      { numRuns: 60 },
    );
  });

  it('say when a run can go on from the present weights alone', async () => {
    const { rollouts, plays, publish } = stage({ maxStaleness: 2, lastStep: 4 });
    publish(0);
    await turn();
    plays[0].end();
    await rollouts.take(1);
    publish(1);
    expect(rollouts.isSettled(0)).toBe(true);
    expect(rollouts.isSettled(1)).toBe(false);
    let isOver = false;
    const settled = rollouts.settled(1).then(() => (isOver = true));
    await turn();
    plays[1].end();
    await turn();
    expect(isOver).toBe(false);
    // Steps 2 and 3 are the older weights' to play, step 4 is not.
    plays[2].end();
    await settled;
    expect(plays.map(({ weights }) => weights).slice(0, 3)).toEqual(['weights 0', 'weights 0', 'weights 0']);
    await rollouts.close();
  });

  it('go on from a checkpoint with its weights, the oldest that there are', async () => {
    const { rollouts, plays, publish } = stage({ firstStep: 4 });
    publish(3);
    await turn();
    plays[0].end();
    await turn();
    expect(plays.map(({ step, policyStep }) => [step, policyStep])).toEqual([
      [4, 3],
      [5, 3],
    ]);
    await rollouts.close();
  });

  it('keep no weights that nobody will play with', async () => {
    const { rollouts, publish } = stage({ lastStep: 2 });
    publish(0);
    rollouts.publish(1, () => {
      throw new Error('step 2 is the last, and was to be played by weights 0');
    });
    await rollouts.close();
  });

  it('give what was played before an error, and then the error', async () => {
    const { rollouts, plays, publish } = stage();
    publish(0);
    await turn();
    plays[0].end();
    await turn();
    plays[1].end(new Error('the disk is full'));
    await turn();
    expect(await rollouts.take(1)).toBe('1 by weights 0');
    publish(1);
    await expect(rollouts.take(2)).rejects.toThrow('the disk is full');
    await expect(rollouts.settled(1)).rejects.toThrow('the disk is full');
    await rollouts.close();
  });

  it('end with the run, and close when the player has let go', async () => {
    const { rollouts, plays, publish, stop } = stage();
    publish(0);
    await turn();
    const taken = rollouts.take(1);
    stop();
    await expect(taken).rejects.toMatchObject({ kind: 'cancelled' });
    expect(plays[0].signal.aborted).toBe(true);
    await rollouts.close();
    expect(rollouts.isSettled(1)).toBe(false);
  });
});

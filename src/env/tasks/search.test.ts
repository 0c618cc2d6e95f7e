import { describe, expect, it } from 'vitest';
import type { Attempt, AttemptResult, TaskDraft } from './attempt.js';
import { searchTasks } from './search.js';

const KEPT = { draft: {} as TaskDraft };

async function* attempts(results: readonly (AttemptResult | Error)[], seen: number[] = []): AsyncGenerator<Attempt> {
  for (const [index, result] of results.entries()) {
    yield {
      title: String(index),
      run: () => {
        seen.push(index);
        return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
      },
    };
  }
}
const limits = { limit: 2, concurrency: 2, deadline: Infinity };
const ignore = () => undefined;

describe('searchTasks', () => {
  it('stops when enough are kept and tries nothing beyond', async () => {
    const seen: number[] = [];
    const results = await searchTasks(attempts([KEPT, { invalid: 'a' }, KEPT, KEPT, KEPT], seen), limits, ignore);
    expect(results.filter((result) => 'draft' in result)).toHaveLength(2);
    expect(seen).toEqual([0, 1, 2]);
  });

  it('ends with what it has where the time is over', async () => {
    const results = await searchTasks(attempts([KEPT]), { ...limits, deadline: performance.now() - 1 }, ignore);
    expect(results).toEqual([]);
  });

  it('is cancelled between attempts', async () => {
    const controller = new AbortController();
    const cancelling: Attempt = {
      title: 'cancels',
      run: () => {
        controller.abort();
        return Promise.resolve({ invalid: 'a' });
      },
    };
    const seen: number[] = [];
    async function* first(): AsyncGenerator<Attempt> {
      yield cancelling;
      yield* attempts([KEPT, KEPT], seen);
    }
    const search = searchTasks(first(), { ...limits, concurrency: 1, signal: controller.signal }, ignore);
    await expect(search).rejects.toMatchObject({ kind: 'cancelled' });
    expect(seen).toEqual([]);
  });

  it('waits for its neighbours before it throws a failure', async () => {
    let ended = false;
    async function* two(): AsyncGenerator<Attempt> {
      yield* attempts([new Error('broken')]);
      yield {
        title: 'slow',
        run: async () => {
          await new Promise((resolve) => setTimeout(resolve, 20));
          ended = true;
          return KEPT;
        },
      };
    }
    await expect(searchTasks(two(), limits, ignore)).rejects.toThrow('broken');
    expect(ended).toBe(true);
  });

  it('reports what was tried and kept', async () => {
    const reports: unknown[] = [];
    await searchTasks(attempts([KEPT, { skipped: 'merge' }, { flaky: true }]), limits, (progress) =>
      reports.push(progress),
    );
    expect(reports).toEqual([
      { message: '1', tried: 2, kept: 1 },
      { message: '2', tried: 3, kept: 1 },
    ]);
  });
});

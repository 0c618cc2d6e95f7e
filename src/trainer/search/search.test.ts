import { expect, it } from 'vitest';
import type { Task } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import type { SamplingOptions } from '../rollout/arena.js';
import { answer, plainOptions, scriptedArena, scriptedPlayer } from '../rollout/scripted.testing.js';
import { fixtureCodec } from '../text/fixtureCodecs.testing.js';
import { searchTasks } from './search.js';

const options: SamplingOptions = { ...plainOptions, commandSlots: 1 };
const codec = fixtureCodec('embedded');
const turnOf = (name: string) =>
  codec.encodeMessage({ role: 'assistant', content: '', toolCalls: [{ id: 'c', name, arguments: {} }], raw: '' });
const task = { instance_id: 'task', whetstone: { split: 'train' } } as Task;

it('a search goes on from what its scorer likes, and answers with the best of all', async () => {
  // One after the other: two from the prompt, then two branches behind the first turn of the better one.
  const turns = ['open', 'submit', 'run_tests', 'submit', 'edit', 'submit', 'run_tests', 'submit'];
  const { player } = scriptedPlayer(codec, turns.map(turnOf));
  // Only in the second were the tests seen to run.
  const answers: Record<string, string> = { run_tests: '3 passed, 1 failed', edit: 'Edited "a.js".' };
  const { arena } = scriptedArena((message) => {
    const { name } = message.toolCalls[0]!;
    const observations = [{ ...answer('c', answers[name] ?? name), name }];
    return Promise.resolve({ observations, stopReason: name === 'submit' ? 'submitted' : null });
  });
  const recorded: Trajectory[] = [];
  const schedule = {
    concurrency: 1,
    signal: new AbortController().signal,
    gate: () => Promise.resolve(),
    onTrajectory: (trajectory: Trajectory) => void recorded.push(trajectory),
  };
  const search = { search: 'beam', scorer: 'tests', width: 2, depth: 2, policy: 'p', seed: 1 } as const;
  const [found] = await searchTasks(player, arena, [task], 'evaluation', search, options, schedule);
  const base = 'search-000003/task';
  expect(recorded.map(({ id, sample, kind }) => [id, sample, kind])).toEqual([
    [`${base}/0`, 0, 'evaluation'],
    [`${base}/1`, 1, 'evaluation'],
    [`${base}/1/turn-1/0`, 2, 'evaluation'],
    [`${base}/1/turn-1/1`, 3, 'evaluation'],
  ]);
  expect(found!.played).toEqual(recorded);
  // A change after the last run of the tests leaves it with no score, and of equal ones the first is taken.
  expect(found!.chosen.id).toBe(`${base}/1`);
});

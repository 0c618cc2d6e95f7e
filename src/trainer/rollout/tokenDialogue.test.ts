import { describe, expect, test } from 'vitest';
import { recordedTurns } from '../../env/replay.js';
import type { EpisodeStep } from '../../env/episodeTypes.js';
import type { Task } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { fixtureCodec } from '../text/fixtureCodecs.testing.js';
import type { TextCodec } from '../text/textCodec.js';
import { checkActionMask } from './actionMask.js';
import type { EpisodePlan, SamplingOptions } from './arena.js';
import { leftOut } from './contextWindow.js';
import { trainingSequence } from './nodes.js';
import { playEpisode } from './playEpisode.js';
import { answer, plainOptions, scriptedArena, scriptedPlayer } from './scripted.testing.js';

const options: SamplingOptions = { ...plainOptions, contextShare: 0.05 };
const task = { instance_id: 'task', whetstone: { split: 'train' } } as Task;
const plan: EpisodePlan = { id: 'step-000001/task/0', kind: 'rollout', step: 1, task, sample: 0, seed: 7 };

async function play(codec: TextCodec, names: readonly (string | Int32Array)[], more: Partial<SamplingOptions> = {}) {
  const turns = names.map((name) =>
    typeof name !== 'string'
      ? name
      : codec.encodeMessage({
          role: 'assistant',
          content: '',
          toolCalls: [{ id: 'call-0', name, arguments: {} }],
          raw: '',
        }),
  );
  const { player, requests } = scriptedPlayer(codec, turns);
  const { arena } = scriptedArena((message, turn): Promise<EpisodeStep> => {
    const [call] = message.toolCalls;
    const observations = [answer('call-0', `${call?.name} ${turn}: ${'a long output '.repeat(20)}`)];
    return Promise.resolve({ observations, stopReason: call?.name === 'submit' ? 'submitted' : null });
  });
  const trajectory = await playEpisode(player, arena, plan, { ...options, ...more }, new AbortController().signal);
  return { trajectory, requests, turns };
}

/** The ids on the way from the root to a node. */
function idsTo(trajectory: Trajectory, node: number | null): number[] {
  if (node === null) return [];
  const { parent, tokenIds } = trajectory.nodes[node]!;
  return [...idsTo(trajectory, parent), ...tokenIds];
}

/** Every turn was sampled on exactly the ids that lead to it, and is learned from once, behind them. */
function expectExact({ trajectory, requests, turns }: Awaited<ReturnType<typeof play>>): void {
  const sampled = trajectory.nodes.flatMap(({ message }, index) => (message.role === 'assistant' ? [index] : []));
  sampled.forEach((index, turn) => {
    expect(idsTo(trajectory, trajectory.nodes[index]!.parent)).toEqual([...requests[turn]!.tokenIds]);
  });
  expect(checkActionMask(trajectory)).toEqual([]);
  const { tokenIds, actionMask, branches } = trainingSequence(trajectory);
  const learned = new Uint8Array(tokenIds.length);
  for (const branch of branches ?? [])
    branch.positions.forEach((position, t) => (learned[position]! += branch.actionMask[t]!));
  expect(branches?.length).toBeGreaterThan(1);
  expect([...learned]).toEqual([...actionMask]);
  expect(actionMask.reduce((sum, bit) => sum + bit, 0)).toBe(turns.reduce((sum, turn) => sum + turn.length, 0));
}

describe('a new branch starts', () => {
  test('where the template would rewrite the history, and then goes on', async () => {
    const codec = fixtureCodec('mistral');
    const played = await play(codec, ['open', 'open', 'edit', 'submit']);
    expectExact(played);
    // Mistral's drops the system message after the first turn.
    const branches = played.trajectory.nodes.filter(({ branch }) => branch !== undefined);
    expect(branches.map(({ branch }) => branch)).toEqual(['template']);
    expect(codec.decode(played.requests[0]!.tokenIds)).toContain('You fix bugs.');
    expect(codec.decode(played.requests[1]!.tokenIds)).not.toContain('You fix bugs.');
    expect(codec.decode(played.requests[3]!.tokenIds)).toContain('edit 3: a long output');
  });

  test('where older observations are left out', async () => {
    const codec = fixtureCodec('embedded');
    const played = await play(codec, ['open', 'search', 'edit', 'submit'], { keptObservations: 1 });
    expectExact(played);
    const last = codec.decode(played.requests[3]!.tokenIds);
    expect(last.split(leftOut)).toHaveLength(3);
    expect(last).toContain('edit 3: a long output');
    expect(last).not.toContain('search 2: a long output');
    for (const { message, branch } of played.trajectory.nodes)
      if (branch !== undefined) expect(message.role).toBe('user');
    expect(played.trajectory.statistics.totalTokens).toBe(
      played.trajectory.nodes.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0),
    );
  });

  test('where the policy sums up its progress, and goes on from that alone', async () => {
    for (const model of ['embedded', 'qwen3', 'llama3', 'mistral'] as const) {
      const codec = fixtureCodec(model);
      const notes = codec.encodeTurn('The sign in a.js is wrong.');
      const played = await play(codec, ['open', notes, 'edit', notes, 'submit'], {
        contextSummary: true,
        contextShare: 0.001,
      });
      expectExact(played);
      const { trajectory, requests } = played;
      const shown = requests.map(({ tokenIds }) => codec.decode(tokenIds));
      expect(shown.map((text) => text.includes('The context is almost full'))).toEqual([
        false,
        true,
        false,
        true,
        false,
      ]);
      expect(shown[2]).toContain('Your notes on what you did so far:\nThe sign in a.js is wrong.');
      expect(shown[2]).not.toContain('a long output');
      expect(shown[3]).toContain('edit 2: a long output');
      // It was sampled, so it is learned from; no tool saw it, so it is no turn.
      const asides = trajectory.nodes.filter(({ message }) => message.role === 'assistant' && message.aside);
      expect(asides.map(({ tokenIds }) => [...tokenIds])).toEqual([[...notes], [...notes]]);
      expect(trajectory.statistics.turns).toBe(3);
      expect(recordedTurns(trajectory.nodes)).toHaveLength(3);
    }
  });

  test('and nowhere else', async () => {
    for (const model of ['embedded', 'qwen2.5', 'qwen3', 'qwen3-coder', 'llama3', 'smollm2'] as const) {
      const { trajectory } = await play(fixtureCodec(model), ['open', 'edit', 'submit']);
      expect(trajectory.nodes.filter(({ branch }) => branch !== undefined)).toEqual([]);
      expect(trainingSequence(trajectory).branches).toBeUndefined();
    }
  });
});

test('a turn ends at the stop strings of the settings and of the tool format', async () => {
  const codec = fixtureCodec('qwen3').withToolFormat('react');
  const { player, requests } = scriptedPlayer(codec, [codec.encodeTurn('Done.')]);
  const { arena } = scriptedArena(() => Promise.resolve({ observations: [], stopReason: 'no-tool-call' }));
  await playEpisode(player, arena, plan, { ...options, stopStrings: ['END'] }, new AbortController().signal);
  const { stops } = requests[0]!;
  const said = (text: string) => stops?.([...codec.encode(text)]);
  expect([said('Action: open\nAction Input: {}'), said('a\nObservation:'), said('日本語 END.')]).toEqual([
    false,
    true,
    true,
  ]);
});

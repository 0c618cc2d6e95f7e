import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EpisodeStep } from '../../env/episodeTypes.js';
import { badInput, cancelled, infrastructure } from '../../trajectory/errors.js';
import type { Task } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { loadCheckpoint } from '../model/checkpoint.js';
import type { TextCodec } from '../text/textCodec.js';
import { writeTinyPolicy } from '../tinyPolicy.testing.js';
import { groupAdvantages } from '../algorithm/advantages.js';
import type { Judge } from '../judge/judge.js';
import { shapingSchema } from '../run/shapingSettings.js';
import { checkActionMask } from './actionMask.js';
import type { EpisodePlan } from './arena.js';
import { trainingSequence } from './nodes.js';
import { playEpisode } from './playEpisode.js';
import { playGroups } from './playGroups.js';
import { answer, plainOptions, scriptedArena, scriptedPlayer } from './scripted.testing.js';

let root: string;
let codec: TextCodec;
beforeAll(async () => {
  root = mkdtempSync(path.join(os.tmpdir(), 'whetstone-play-'));
  ({ codec } = await loadCheckpoint(await writeTinyPolicy(root)));
});
afterAll(() => rmSync(root, { recursive: true }));

const call = (name: string) => `<tool_call>\n{"name": "${name}", "arguments": {}}\n</tool_call>`;
const never = new AbortController().signal;
const task = { instance_id: 'task', whetstone: { split: 'train' } } as Task;
const plan: EpisodePlan = { id: 'step-000001/task/0', kind: 'rollout', step: 1, task, sample: 0, seed: 7 };

const submits: EpisodeStep = { observations: [answer('1', 'Submitted.')], stopReason: 'submitted' };
const allIds = (trajectory: Trajectory) => trajectory.nodes.flatMap((node) => [...node.tokenIds]);

describe('an episode', () => {
  it('is token in, token out: what the policy saw before a turn is what is recorded before it', async () => {
    const turns = ['run', 'open', 'submit'].map((name) => codec.encodeTurn(call(name)));
    const { player, requests, released } = scriptedPlayer(codec, turns);
    const { arena, counts } = scriptedArena((_, turn) =>
      Promise.resolve(turn === 3 ? submits : { observations: [answer(String(turn), 'fine')], stopReason: null }),
    );
    const trajectory = await playEpisode(player, arena, plan, plainOptions, never);
    const ids = allIds(trajectory);
    for (const { tokenIds } of requests) expect([...tokenIds]).toEqual(ids.slice(0, tokenIds.length));
    expect(trajectory.nodes.map((node) => node.message.role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
      'assistant',
      'tool',
    ]);
    expect(trajectory.nodes.map((node) => node.parent)).toEqual([null, 0, 1, 2, 3, 4, 5, 6]);
    expect(checkActionMask(trajectory)).toEqual([]);
    expect(trajectory).toMatchObject({ stopReason: 'submitted', policyStep: 3, split: 'train', seed: 7 });
    expect(trajectory.patch).toContain('+b');
    expect(trajectory.statistics).toMatchObject({
      sampledTokens: turns.reduce((sum, turn) => sum + turn.length, 0),
      totalTokens: ids.length,
    });
    expect(new Set(requests.map(({ seed }) => seed)).size).toBe(3);
    expect(released).toEqual([plan.id]);
    expect(counts).toEqual({ started: 1, disposed: 1, graded: 1 });
  });

  it('masks the stop token where the policy sampled it and not where it was cut before it', async () => {
    const whole = codec.encodeTurn(call('run'));
    for (const cut of [0, 1]) {
      const { player } = scriptedPlayer(codec, [whole.slice(0, whole.length - cut), codec.encodeTurn(call('submit'))]);
      const { arena } = scriptedArena((_, turn) =>
        Promise.resolve(turn === 2 ? submits : { observations: [answer('1', 'fine')], stopReason: null }),
      );
      const trajectory = await playEpisode(player, arena, plan, plainOptions, never);
      const [, , turn, observation] = trajectory.nodes;
      const stop = cut === 0 ? turn : observation;
      const position = cut === 0 ? turn.tokenIds.length - 1 : 0;
      expect(codec.stopTokenIds).toContain(stop.tokenIds[position]);
      expect(stop.actionMask[position]).toBe(cut === 0 ? 1 : 0);
      expect(checkActionMask(trajectory)).toEqual([]);
    }
  });

  it('gives each of several observations its own tokens, which laid end to end are those of all', async () => {
    const turn = codec.encodeTurn(call('run') + call('open'));
    const { player } = scriptedPlayer(codec, [turn, codec.encodeTurn(call('submit'))]);
    const observations = [answer('1', 'first'), answer('2', 'second')];
    const { arena } = scriptedArena((_, number) =>
      Promise.resolve(number === 2 ? submits : { observations, stopReason: null }),
    );
    const trajectory = await playEpisode(player, arena, plan, plainOptions, never);
    const nodes = trajectory.nodes.slice(3, 5);
    expect(nodes.map((node) => codec.decode(node.tokenIds).includes('first'))).toEqual([true, false]);
    expect(nodes.map((node) => codec.decode(node.tokenIds).includes('second'))).toEqual([false, true]);
    const message = codec.parseTurn(turn);
    expect(nodes.flatMap((node) => [...node.tokenIds])).toEqual([
      ...codec.observation({ sampledIds: turn, message }, observations),
    ]);
  });

  it('is rewarded for its way and by a judge beside its end, and has no reward where the judge fails', async () => {
    const play = (judge: Judge) => {
      const { player } = scriptedPlayer(codec, [codec.encodeTurn(call('submit')), codec.encodeTurn(call('submit'))]);
      const { arena } = scriptedArena(() => Promise.resolve(submits));
      const shaping = shapingSchema.parse({ toolUse: 0.5, length: 'linear', lengthTarget: 1000 });
      return playEpisode(player, arena, plan, { ...plainOptions, shaping, judge }, never);
    };
    const judged = await play((episode, { instance_id }: Partial<Task>, seed) => {
      expect([instance_id, seed, episode.patch.includes('+b')]).toEqual(['task', 7, true]);
      return Promise.resolve({ score: 0.5, weight: 0.2 });
    });
    expect(Object.keys(judged.grade!.components)).toEqual(['judge', 'toolUse', 'length']);
    expect(judged.grade!.reward).toBeCloseTo(1 + 0.1 + 0.1, 12);
    const unjudged = await play(() => Promise.reject(infrastructure('The judge gave no verdict.', '')));
    expect(unjudged).toMatchObject({ grade: null, infrastructureError: 'The judge gave no verdict.' });
  });

  it('ends at the token limit with what it has', async () => {
    const turn = codec.encodeTurn(call('run'));
    const prompt = codec.promptNodes(
      [
        { role: 'system', content: 'You fix bugs.' },
        { role: 'user', content: 'add is wrong' },
      ],
      [],
    );
    const length = prompt.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
    const { player } = scriptedPlayer(codec, [turn], length + 5);
    const { arena, counts } = scriptedArena(() => Promise.reject(new Error('a cut turn was played')));
    const trajectory = await playEpisode(player, arena, plan, plainOptions, never);
    expect(trajectory.stopReason).toBe('token-limit');
    expect(allIds(trajectory)).toHaveLength(length + 5);
    expect(counts.graded).toBe(1);
  });

  it('ends at the time limit, which is no failure of the machine', async () => {
    const { player } = scriptedPlayer(codec, [codec.encodeTurn(call('run'))]);
    const { arena } = scriptedArena(
      (_, __, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(cancelled()))),
    );
    const trajectory = await playEpisode(player, arena, plan, { ...plainOptions, episodeSeconds: 0.05 }, never);
    expect(trajectory).toMatchObject({ stopReason: 'time-limit', infrastructureError: null });
    expect(trajectory.grade).not.toBeNull();
  });

  it('tries a failure of the machine once more, then records it without a grade', async () => {
    for (const failures of [1, 2]) {
      const turns = [1, 2].map(() => codec.encodeTurn(call('submit')));
      const { player } = scriptedPlayer(codec, turns);
      let failed = 0;
      const { arena, counts } = scriptedArena(() =>
        failed++ < failures ? Promise.reject(infrastructure('No space.', 'Free some.')) : Promise.resolve(submits),
      );
      const trajectory = await playEpisode(player, arena, plan, plainOptions, never);
      expect(trajectory.infrastructureError).toBe(failures === 1 ? null : 'No space. Free some.');
      expect(trajectory.grade === null).toBe(failures === 2);
      expect(counts).toMatchObject({ started: 2, disposed: 2 });
    }
  });

  it('tries a crash of ours once more too, and records it where it comes again', async () => {
    for (const failures of [1, 2]) {
      const { player } = scriptedPlayer(
        codec,
        [1, 2].map(() => codec.encodeTurn(call('submit'))),
      );
      let failed = 0;
      const { arena, counts } = scriptedArena(() =>
        failed++ < failures ? Promise.reject(new TypeError('x is undefined')) : Promise.resolve(submits),
      );
      const trajectory = await playEpisode(player, arena, plan, plainOptions, never);
      expect(trajectory.infrastructureError).toBe(failures === 1 ? null : 'The episode crashed: x is undefined');
      expect(counts).toMatchObject({ started: 2, disposed: 2 });
    }
  });

  it('leaves no record and no worktree where it is cancelled', async () => {
    const abort = new AbortController();
    const { player } = scriptedPlayer(codec, [codec.encodeTurn(call('run'))]);
    const { arena, counts } = scriptedArena(() => {
      abort.abort();
      return Promise.reject(cancelled());
    });
    await expect(playEpisode(player, arena, plan, plainOptions, abort.signal)).rejects.toMatchObject({
      kind: 'cancelled',
    });
    expect(counts).toMatchObject({ started: 1, disposed: 1, graded: 0 });
  });
});

describe('the check of the action mask', () => {
  it('finds a token of the wrong side, a hole in the log-probabilities and arrays that do not fit', async () => {
    const { player } = scriptedPlayer(codec, [codec.encodeTurn(call('submit'))]);
    const { arena } = scriptedArena(() => Promise.resolve(submits));
    const good = await playEpisode(player, arena, plan, plainOptions, never);
    const withNode = (index: number, change: object): Trajectory => ({
      ...good,
      nodes: good.nodes.map((node, at) => (at === index ? { ...node, ...change } : node)),
    });
    const leaked = good.nodes[1].actionMask.slice();
    leaked[2] = 1;
    const hole = good.nodes[2].logprobs.slice();
    hole[0] = NaN;
    expect(checkActionMask(good)).toEqual([]);
    expect(checkActionMask(withNode(1, { actionMask: leaked }))[0]).toMatch(/node 1 \(user\): token 2 has mask 1/);
    expect(checkActionMask(withNode(2, { logprobs: hole }))[0]).toMatch(/token 0 has log-probability NaN/);
    expect(checkActionMask(withNode(2, { entropies: new Float32Array(1) }))[0]).toMatch(/different lengths/);
    expect(checkActionMask(withNode(2, { parent: 5 }))[0]).toMatch(/its parent is 5/);
  });
});

describe('the sequence for the learner', () => {
  it('ends with the last sampled token', async () => {
    const turn = codec.encodeTurn(call('submit'));
    const { player } = scriptedPlayer(codec, [turn]);
    const { arena } = scriptedArena(() => Promise.resolve(submits));
    const { tokenIds, actionMask } = trainingSequence(await playEpisode(player, arena, plan, plainOptions, never));
    expect([...tokenIds.slice(-turn.length)]).toEqual([...turn]);
    expect(actionMask.at(-1)).toBe(1);
    expect(actionMask.reduce((sum, bit) => sum + bit, 0)).toBe(turn.length);
  });
});

describe('groups', () => {
  const plans = [0, 1, 2, 3, 4].map((sample) => ({ ...plan, id: `step-000001/task/${sample}`, sample }));
  const schedule = { concurrency: 2, signal: never, gate: () => Promise.resolve(), onTrajectory: () => undefined };
  const submitting = () =>
    scriptedPlayer(
      codec,
      plans.map(() => codec.encodeTurn(call('submit'))),
    ).player;

  it('are played side by side up to the concurrency, in the order of the plans', async () => {
    let [now, most] = [0, 0];
    const { arena } = scriptedArena(async () => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setTimeout(resolve, 5));
      now--;
      return submits;
    });
    const seen: string[] = [];
    const trajectories = await playGroups(submitting(), arena, plans, plainOptions, {
      ...schedule,
      onTrajectory: ({ id }) => seen.push(id),
    });
    expect(trajectories.map(({ id }) => id)).toEqual(plans.map(({ id }) => id));
    expect([...seen].sort()).toEqual(plans.map(({ id }) => id));
    expect(most).toBe(2);
  });

  it('take what is recorded for played', async () => {
    const { arena, counts } = scriptedArena(() => Promise.resolve(submits));
    const before = await playEpisode(submitting(), arena, plans[1], plainOptions, never);
    const seen: string[] = [];
    const trajectories = await playGroups(
      submitting(),
      arena,
      plans,
      plainOptions,
      { ...schedule, onTrajectory: ({ id }) => seen.push(id) },
      (id) => Promise.resolve(id === before.id ? before : null),
    );
    expect(trajectories[1]).toBe(before);
    expect(seen).not.toContain(before.id);
    expect(counts.started).toBe(plans.length);
  });

  it('end with the first error, once every episode has let go of its tree', async () => {
    const { arena, counts } = scriptedArena(async (_, __, signal) => {
      if (counts.started === 2) throw badInput('No such key.', 'Give one.');
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(cancelled())));
      return submits;
    });
    await expect(playGroups(submitting(), arena, plans, plainOptions, schedule)).rejects.toThrow('No such key.');
    expect(counts.disposed).toBe(counts.started);
  });

  it('go on without a rollout that crashed, whose group counts the others only', async () => {
    let crashes = 2;
    const { arena } = scriptedArena(() =>
      crashes-- > 0 ? Promise.reject(new Error('a crash')) : Promise.resolve(submits),
    );
    const turns = [...plans, 0, 0].map(() => codec.encodeTurn(call('submit')));
    const played = await playGroups(scriptedPlayer(codec, turns).player, arena, plans, plainOptions, {
      ...schedule,
      concurrency: 1,
    });
    expect(played.map(({ grade }) => grade?.reward ?? null)).toEqual([null, 1, 1, 1, 1]);
    const rewards = played.map(({ grade }, index) => (grade === null ? null : index / 2));
    const { advantages, mean } = groupAdvantages(rewards);
    expect([advantages[0], mean]).toEqual([0, 1.25]);
  });

  it('end where every episode failed: there is nothing to learn from', async () => {
    const { arena } = scriptedArena(() => Promise.reject(infrastructure('No space.', 'Free some.')));
    const turns = new Array<Int32Array>(10).fill(codec.encodeTurn(call('submit')));
    const played = playGroups(scriptedPlayer(codec, turns).player, arena, plans, plainOptions, schedule);
    await expect(played).rejects.toMatchObject({
      kind: 'infrastructure',
      message: expect.stringMatching(/All 5.*No space/) as string,
    });
  });

  it('of two hundred side by side run few commands at once, and let go of everything when cancelled', async () => {
    const many = Array.from({ length: 200 }, (_, sample) => ({ ...plan, id: `step-000001/task/${sample}`, sample }));
    const abort = new AbortController();
    let [now, most, steps] = [0, 0, 0];
    const { arena, counts } = scriptedArena(async (_, __, signal) => {
      most = Math.max(most, ++now);
      if (++steps === 100) abort.abort();
      await new Promise((resolve) => setImmediate(resolve));
      now--;
      if (signal.aborted) throw cancelled();
      return submits;
    });
    const { player, released } = scriptedPlayer(
      codec,
      many.map(() => codec.encodeTurn(call('submit'))),
    );
    const played = playGroups(player, arena, many, plainOptions, {
      ...schedule,
      concurrency: 200,
      signal: abort.signal,
    });
    await expect(played).rejects.toMatchObject({ kind: 'cancelled' });
    expect(most).toBe(plainOptions.commandSlots);
    expect(counts.disposed).toBe(counts.started);
    expect(new Set(released).size).toBe(counts.started);
  });
});

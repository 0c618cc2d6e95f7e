import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EpisodeStep } from '../../env/episodeTypes.js';
import type { Task } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { fixtureCodec } from '../text/fixtureCodecs.testing.js';
import type { GenerationRequest, Generator } from '../model/policy.js';
import { loadPolicy } from '../loadPolicy.js';
import { parseSettings } from '../run/settings.js';
import { writeTinyPolicy } from '../tinyPolicy.testing.js';
import { checkActionMask } from './actionMask.js';
import type { EpisodePlan, SamplingOptions } from './arena.js';
import { branchPlans } from './branchPlans.js';
import { learnedMasks, samplerLogprobs, trainingSequence } from './nodes.js';
import { playEpisode } from './playEpisode.js';
import { answer, plainOptions, scriptedArena, scriptedPlayer } from './scripted.testing.js';

const options: SamplingOptions = { ...plainOptions, contextShare: 0.05 };
const task = { instance_id: 'task', whetstone: { split: 'train' } } as Task;
const first: EpisodePlan = { id: 'step-000001/task/0', kind: 'rollout', step: 1, task, sample: 0, seed: 7 };
const numbers = { seed: 1, takenIds: new Set<string>(), firstSample: 1 };
const codec = fixtureCodec('embedded');

const turnOf = (name: string) =>
  codec.encodeMessage({
    role: 'assistant',
    content: '',
    toolCalls: [{ id: 'call-0', name, arguments: {} }],
    raw: '',
  });

/** Tools that answer the same to the same call; `submit` ends the episode. */
const steady = (text = 'a long output '.repeat(8)) =>
  scriptedArena((message): Promise<EpisodeStep> => {
    const [call] = message.toolCalls;
    const observations = [answer('call-0', `${call?.name}: ${text}`)];
    return Promise.resolve({ observations, stopReason: call?.name === 'submit' ? 'submitted' : null });
  });

/** Says notes where it is asked for a summary, and its turns else; all requests are kept. */
function summingUp({ player }: ReturnType<typeof scriptedPlayer>) {
  const requests: GenerationRequest[] = [];
  const notes = codec.encodeTurn('The sign is wrong.');
  const known = new Float32Array(notes.length).fill(-0.5);
  const generator: Generator = {
    ...player.generator,
    generate(request) {
      requests.push(request);
      return codec.decode(request.tokenIds).includes('context is almost full')
        ? Promise.resolve({ tokenIds: notes, logprobs: known, entropies: known, finishReason: 'stop' })
        : player.generator.generate(request);
    },
  };
  return { player: { ...player, generator }, requests };
}

async function play(
  plan: EpisodePlan,
  names: readonly string[],
  more: Partial<SamplingOptions> = {},
  arena = steady(),
) {
  const { player, requests } = summingUp(scriptedPlayer(codec, names.map(turnOf)));
  const trajectory = await playEpisode(
    player,
    arena.arena,
    plan,
    { ...options, ...more },
    new AbortController().signal,
  );
  return { trajectory, requests, counts: arena.counts };
}

const idsTo = (trajectory: Trajectory, node: number | null): number[] =>
  node === null ? [] : [...idsTo(trajectory, trajectory.nodes[node]!.parent), ...trajectory.nodes[node]!.tokenIds];

describe('a branch by a real policy', () => {
  it('has the log-probabilities that the learner finds, the shared ones and its own', async () => {
    const root = mkdtempSync(path.join(os.tmpdir(), 'branches '));
    const model = await writeTinyPolicy(root);
    const settings = parseSettings({ model, device: 'cpu', deterministic: true });
    const policy = await loadPolicy(settings, root);
    try {
      const player = { generator: policy.generator, codec: policy.codec, policyStep: 0 };
      const { signal } = new AbortController();
      // A random policy makes no call; whatever it says, it is answered.
      const { arena } = scriptedArena((_message, turn) =>
        Promise.resolve({
          observations: [answer('call-0', `turn ${turn}`)],
          stopReason: turn === 3 ? 'turn-limit' : null,
        }),
      );
      const short = { ...options, maxTokensPerTurn: 12, temperature: 0.8, keptObservations: 1, contextShare: 0.001 };
      const parent = await playEpisode(player, arena, first, short, signal);
      const plans = branchPlans(parent, task, 2, 2, 'itself', numbers);
      const branches = await Promise.all(plans.map((plan) => playEpisode(player, arena, plan, short, signal)));
      expect(branches[0]!.nodes.at(-2)!.tokenIds).not.toEqual(branches[1]!.nodes.at(-2)!.tokenIds);
      const scores = await policy.learner.score([parent, ...branches].map(trainingSequence), 0.8);
      [parent, ...branches].forEach((trajectory, index) => {
        const { actionMask } = trainingSequence(trajectory);
        const sampled = samplerLogprobs(trajectory);
        const differences = Array.from(actionMask, (bit, t) =>
          bit === 1 ? Math.abs(scores[index]!.logprobs[t]! - sampled[t]!) : 0,
        );
        expect(actionMask.includes(1)).toBe(true);
        expect(Math.max(...differences)).toBeLessThan(1e-4);
      });
    } finally {
      await policy.dispose();
      rmSync(root, { recursive: true });
    }
  });
});

describe('a branch', () => {
  it('repeats the recorded actions, is shown exactly the recorded ids, and shares the nodes', async () => {
    const { trajectory: parent } = await play(first, ['open', 'search', 'submit']);
    const [plan] = branchPlans(parent, task, 2, 1, 'someone', numbers);
    const { trajectory: branch, requests } = await play(plan!, ['run_tests', 'submit']);
    expect(branch.origin).toEqual({ trajectoryId: parent.id, turn: 2, nodes: 6, policy: 'someone' });
    expect(branch.nodes.slice(0, 6)).toEqual(parent.nodes.slice(0, 6));
    expect([...requests[0]!.tokenIds]).toEqual(idsTo(parent, 5));
    expect(branch).toMatchObject({ id: `${parent.id}/turn-2/0`, sample: 1, step: 1, stopReason: 'submitted' });
    expect(branch.statistics.turns).toBe(4);
    expect(branch.statistics.sampledTokens).toBe(
      branch.nodes.flatMap(({ actionMask }) => [...actionMask]).reduce((sum, bit) => sum + bit, 0),
    );
  });

  it('is no episode of the policy where its repeated turns are answered otherwise', async () => {
    const { trajectory: parent } = await play(first, ['open', 'submit']);
    const [plan] = branchPlans(parent, task, 1, 1, 'someone', numbers);
    const { trajectory, requests, counts } = await play(plan!, ['submit'], {}, steady('something else'));
    expect(trajectory).toMatchObject({ grade: null, stopReason: 'error' });
    expect(trajectory.infrastructureError).toMatch(/^Turn 1 of step-000001\/task\/0 was answered otherwise/);
    expect([requests.length, counts.started, counts.disposed]).toEqual([0, 2, 2]);
    expect(trainingSequence(trajectory).tokenIds).toHaveLength(0);
  });

  it('cannot follow a turn that is not there, and says which are', async () => {
    const { trajectory: parent } = await play(first, ['open', 'submit']);
    expect(() => branchPlans(parent, task, 2, 1, 'someone', numbers)).toThrow(/has 2 turns.*behind turn 2/);
    expect(
      branchPlans(parent, task, 0, 2, 'someone', numbers).map(({ id, sample, seed }) => [id, sample, seed]),
    ).toEqual([0, 1].map((k) => [`${parent.id}/turn-0/${k}`, 1 + k, expect.any(Number)]));
    const takenIds = new Set([`${parent.id}/turn-0/0`]);
    expect(branchPlans(parent, task, 0, 1, 'x', { ...numbers, takenIds })[0]!.id).toBe(`${parent.id}/turn-0/1`);
  });

  it('ends with a cancellation while it repeats, and leaves no worktree', async () => {
    const { trajectory: parent } = await play(first, ['open', 'submit']);
    const [plan] = branchPlans(parent, task, 1, 1, 'someone', numbers);
    const controller = new AbortController();
    const { arena, counts } = scriptedArena((_message, _turn, signal) => {
      controller.abort();
      return Promise.reject(signal.reason as Error);
    });
    const { player } = scriptedPlayer(codec, [turnOf('submit')]);
    await expect(playEpisode(player, arena, plan!, options, controller.signal)).rejects.toMatchObject({
      kind: 'cancelled',
    });
    expect(counts).toEqual({ started: 1, disposed: 1, graded: 0 });
  });

  it('in any tree of branches: masks stay as they were, every sampled token is learned from in one trajectory, behind its own history', async () => {
    const tools = fc.constantFrom('open', 'search', 'run_tests');
    const branchAt = fc.record({ of: fc.nat(), turn: fc.nat(), names: fc.array(tools, { maxLength: 3 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(tools, { maxLength: 4 }),
        fc.array(branchAt, { maxLength: 5 }),
        fc.constantFrom(0, 1, 2),
        fc.boolean(),
        async (names, branches, keptObservations, contextSummary) => {
          const more = { keptObservations, contextSummary };
          const known: { trajectory: Trajectory; requests: { tokenIds: Int32Array }[] }[] = [
            await play(first, [...names, 'submit'], more),
          ];
          for (const { of, turn, names: next } of branches) {
            const parent = known[of % known.length]!.trajectory;
            const turns = parent.statistics.turns;
            const takenIds = new Set(known.map(({ trajectory }) => trajectory.id));
            const [plan] = branchPlans(parent, task, turn % turns, 1, 'x', { ...numbers, takenIds });
            known.push(await play(plan!, [...next, 'submit'], more));
          }
          const byId = new Map(known.map(({ trajectory }) => [trajectory.id, trajectory]));
          for (const { trajectory, requests } of known) {
            const { origin, nodes } = trajectory;
            const shared = origin?.nodes ?? 0;
            expect(checkActionMask(trajectory)).toEqual([]);
            if (origin) expect(nodes.slice(0, shared)).toEqual(byId.get(origin.trajectoryId)!.nodes.slice(0, shared));
            // Every request was the ids on the way to what it sampled.
            const own = nodes.flatMap(({ message }, index) =>
              message.role === 'assistant' && index >= shared ? [index] : [],
            );
            expect(requests.map(({ tokenIds }) => [...tokenIds])).toEqual(
              own.map((index) => idsTo(trajectory, nodes[index]!.parent)),
            );
            // What the learner is given: its own sampled tokens, once each.
            const { actionMask, tokenIds, branches: parts } = trainingSequence(trajectory);
            const wanted = learnedMasks(trajectory).flatMap((mask) => [...mask]);
            expect([...actionMask]).toEqual(wanted.slice(0, actionMask.length));
            expect(wanted.slice(actionMask.length)).not.toContain(1);
            const learned = new Uint8Array(tokenIds.length);
            for (const part of parts ?? [])
              part.positions.forEach((position, t) => (learned[position]! += part.actionMask[t]!));
            if (parts) expect([...learned]).toEqual([...actionMask]);
            const ones = nodes.slice(shared).flatMap((node) => [...node.actionMask]);
            expect(actionMask.reduce((sum, bit) => sum + bit, 0)).toBe(ones.reduce((sum, bit) => sum + bit, 0));
          }
        },
      ),
      { numRuns: 20 },
    );
  });
});

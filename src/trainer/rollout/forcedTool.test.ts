import { describe, expect, it } from 'vitest';
import type { EpisodeStep } from '../../env/episodeTypes.js';
import { toolSchemas } from '../../env/tools/tools.js';
import { isTurn, type ToolSchema } from '../../trajectory/message.js';
import type { Task } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { callOpening } from '../text/callOpening.js';
import { fixtureCodec, fixtureModels } from '../text/fixtureCodecs.testing.js';
import type { TextCodec } from '../text/textCodec.js';
import { turnViewOf } from '../turnCredit.js';
import { checkActionMask } from './actionMask.js';
import type { EpisodePlan, SamplingOptions } from './arena.js';
import { forcedTool } from './forcedTool.js';
import { trainingSequence } from './nodes.js';
import { playEpisode } from './playEpisode.js';
import { deriveSeed } from './seeds.js';
import { answer, plainOptions, scriptedArena, scriptedPlayer } from './scripted.testing.js';

const task = { instance_id: 'task', whetstone: { split: 'train' } } as Task;
const plan: EpisodePlan = { id: 'step-000001/task/0', kind: 'rollout', step: 1, task, sample: 0, seed: 7 };
const names = toolSchemas.map((tool) => tool.function.name);
const nothing = new Int32Array(0);

/** The tool that a turn is made to call. */
const toolOf = (seed: number, turn: number) => forcedTool(deriveSeed(seed, turn), 1, toolSchemas)!;

function callOf({ function: { name, parameters } }: ToolSchema) {
  const required = (parameters.required as string[] | undefined) ?? [];
  const types = parameters.properties as Readonly<Record<string, { readonly type: string }>>;
  const valueOf = (key: string) => (types[key].type === 'integer' ? 7 : 'src/a.js');
  return { name, arguments: Object.fromEntries(required.map((key) => [key, valueOf(key)])) };
}

/** How the policy goes on with the tool that the seed forces: as it would write that call by itself. */
function continuation(codec: TextCodec, seed: number, turn: number): Int32Array {
  const tool = toolOf(seed, turn);
  const whole = codec.encodeTurn(codec.toolFormat.write('', [callOf(tool)]));
  const opening = codec.callOpening(tool, nothing);
  expect([...whole.subarray(0, opening.length)]).toEqual([...opening]);
  return whole.slice(opening.length);
}

async function play(
  codec: TextCodec,
  more: Partial<EpisodePlan>,
  turns: readonly Int32Array[],
  options: Partial<SamplingOptions> = {},
) {
  const { player, requests } = scriptedPlayer(codec, turns);
  const { arena: bare } = scriptedArena((_, turn): Promise<EpisodeStep> => {
    const stopReason = turn === turns.length ? 'submitted' : null;
    return Promise.resolve({ observations: [answer('call-0', `answer ${turn}`)], stopReason });
  });
  const arena: typeof bare = {
    ...bare,
    startEpisode: async (...given) => ({ ...(await bare.startEpisode(...given)), tools: toolSchemas }),
  };
  const all = { ...plainOptions, ...options };
  const trajectory = await playEpisode(player, arena, { ...plan, ...more }, all, new AbortController().signal);
  // Functions and signals are made anew for each request.
  const asked = requests.map(({ signal: _signal, stops: _stops, ...request }) => request);
  return { trajectory, requests: asked };
}

const turnsOf = ({ nodes }: Trajectory) => nodes.filter(({ message }) => isTurn(message));

describe.each(fixtureModels)('a forced tool of %s', (model) => {
  const codec = fixtureCodec(model);

  it('begins the turn as the policy begins such calls, and only what follows is learned from', async () => {
    const rests = [0, 1, 2].map((turn) => continuation(codec, plan.seed, turn));
    const { trajectory, requests } = await play(codec, { toolEpsilon: 1 }, rests);
    expect(checkActionMask(trajectory)).toEqual([]);
    const turns = turnsOf(trajectory);
    expect(turns).toHaveLength(3);
    turns.forEach(({ message, tokenIds, actionMask, logprobs, entropies, forced }, turn) => {
      const [tool, rest] = [toolOf(plan.seed, turn), rests[turn]];
      expect(isTurn(message) && message.malformedCall).toBe(undefined);
      const [call] = isTurn(message) ? message.toolCalls : [];
      expect({ name: call.name, arguments: call.arguments }).toEqual(callOf(tool));
      const opening = codec.callOpening(tool, nothing);
      expect(forced).toBe(opening.length);
      expect([...tokenIds]).toEqual([...opening, ...rest]);
      // What the policy went on from is what is stored.
      expect([...requests[turn].tokenIds.slice(-opening.length)]).toEqual([...opening]);
      expect([...actionMask]).toEqual([...opening.map(() => 0), ...rest.map(() => 1)]);
      for (const values of [logprobs, entropies])
        expect(Array.from(values, Number.isNaN)).toEqual(Array.from(actionMask, (bit) => bit === 0));
    });
    const sampled = rests.reduce((sum, { length }) => sum + length, 0);
    expect(trajectory.statistics.sampledTokens).toBe(sampled);
    expect(trainingSequence(trajectory).actionMask.reduce((sum, bit) => sum + bit, 0)).toBe(sampled);
    const whole = trajectory.nodes.flatMap((node) => [...node.actionMask]);
    expect(Array.from(turnViewOf(trajectory).turnOfToken, (turn) => (turn < 0 ? 0 : 1))).toEqual(whole);
  });

  it('is told by its opening, which gives no value of an argument', () => {
    for (const tool of toolSchemas) {
      const { name } = tool.function;
      const text = codec.decode(codec.callOpening(tool, nothing));
      expect(text).toContain(name);
      expect(names.filter((one) => one !== name && codec.toolFormat.opening(one).startsWith(text))).toEqual([]);
      const [untilValue] = codec.toolFormat.write('', [callOf(tool)]).split('src/a.js');
      expect(untilValue.startsWith(text)).toBe(true);
    }
  });

  it('leaves the grammar of valid calls behind its opening', async () => {
    for (const tool of toolSchemas) {
      const seed = Array.from({ length: 100 }, (_, one) => one).find((one) => toolOf(one, 0) === tool)!;
      const rest = continuation(codec, seed, 0);
      const { requests } = await play(codec, { toolEpsilon: 1, seed }, [rest], { constrainedCalls: true });
      const cursor = requests[0].constraint!();
      for (const id of rest) {
        expect(cursor.allowed()[id]).toBe(1);
        cursor.push(id);
      }
    }
  });
});

describe('a forced tool', () => {
  it('ends the thinking first where the prompt has begun it', () => {
    const codec = fixtureCodec('qwen3');
    const begun = codec.encodeTurn('<think>\n').subarray(0, -1);
    const [open] = toolSchemas;
    const opening = codec.decode(codec.callOpening(open, codec.encode('go on')));
    expect(codec.decode(codec.callOpening(open, begun))).toBe(`\n</think>\n\n${opening}`);
  });

  it('is written as text where tokens that all calls begin with do not tell it', () => {
    const turns = [Int32Array.of(1, 5, 9), Int32Array.of(1, 6, 9)];
    expect(callOpening(turns, 'open', () => '{"name": "ope')).toBeNull();
    expect([...callOpening(turns, 'open', () => 'open"')!]).toEqual([1]);
    // The end is always the policy's.
    expect([...callOpening(turns.slice(1), 'open', () => 'open"')!]).toEqual([1, 6]);
  });

  it('changes nothing where its probability is 0, and nothing of the turns that it leaves alone', async () => {
    const codec = fixtureCodec('embedded');
    const own = codec.encodeTurn('I look.');
    const plain = await play(codec, {}, [own, own]);
    expect(await play(codec, { toolEpsilon: 0 }, [own, own])).toEqual(plain);
    expect(turnsOf(plain.trajectory).map((turn) => 'forced' in turn)).toEqual([false, false]);
    const seed = Array.from({ length: 1000 }, (_, one) => one).find((one) => {
      const isForced = [0, 1].map((turn) => forcedTool(deriveSeed(one, turn), 0.5, toolSchemas) !== null);
      return !isForced[0] && isForced[1];
    })!;
    const without = await play(codec, { seed }, [own, own]);
    const mixed = await play(codec, { seed, toolEpsilon: 0.5 }, [own, continuation(codec, seed, 1)]);
    expect(mixed.requests[0]).toEqual(without.requests[0]);
    expect(turnsOf(mixed.trajectory)[0]).toEqual(turnsOf(without.trajectory)[0]);
    expect(turnsOf(mixed.trajectory)[1].forced).toBeGreaterThan(0);
    expect(mixed.requests[1].seed).toBe(without.requests[1].seed);
  });

  it('takes its part of the length of the turn, and is left out where nothing could follow', async () => {
    const codec = fixtureCodec('embedded');
    const { trajectory, requests } = await play(codec, { toolEpsilon: 1 }, [continuation(codec, plan.seed, 0)]);
    const forced = turnsOf(trajectory)[0].forced!;
    expect(requests[0].maxNewTokens).toBe(plainOptions.maxTokensPerTurn - forced);
    const own = codec.encodeTurn('I look.');
    const short = await play(codec, { toolEpsilon: 1 }, [own], { maxTokensPerTurn: forced });
    expect(turnsOf(short.trajectory)[0].forced).toBeUndefined();
    expect(short.requests[0].maxNewTokens).toBe(forced);
  });

  it('comes as often as told, any tool alike, by the seed alone', () => {
    const drawn = () => Array.from({ length: 4000 }, (_, seed) => forcedTool(seed, 0.3, toolSchemas)?.function.name);
    const draws = drawn();
    expect(drawn()).toEqual(draws);
    const forced = draws.filter((name) => name !== undefined);
    // Five standard deviations of a binomial.
    expect(Math.abs(forced.length - 1200)).toBeLessThan(5 * Math.sqrt(4000 * 0.3 * 0.7));
    const share = 1 / names.length;
    for (const name of names) {
      const count = forced.filter((one) => one === name).length;
      expect(Math.abs(count - forced.length * share)).toBeLessThan(5 * Math.sqrt(forced.length * share * (1 - share)));
    }
    expect(forcedTool(1, 1, [])).toBeNull();
  });
});

describe('the check of the action mask', () => {
  it('wants forced tokens unmasked, at the beginning of a turn that goes on', async () => {
    const codec = fixtureCodec('embedded');
    const { trajectory } = await play(codec, { toolEpsilon: 1 }, [continuation(codec, plan.seed, 0)]);
    const at = trajectory.nodes.findIndex(({ forced }) => forced !== undefined);
    const problemsOf = (change: Partial<Trajectory['nodes'][number]>, index = at) =>
      checkActionMask({
        ...trajectory,
        nodes: trajectory.nodes.map((node, i) => (i === index ? { ...node, ...change } : node)),
      });
    const { tokenIds, forced } = trajectory.nodes[at];
    expect(problemsOf({ actionMask: new Uint8Array(tokenIds.length).fill(1) })[0]).toMatch(/token 0 has mask 1/);
    expect(problemsOf({ forced: forced! + 1 })[0]).toMatch(/has mask 1/);
    expect(problemsOf({ forced: tokenIds.length })[0]).toMatch(/tokens are forced/);
    expect(problemsOf({ forced: 1 }, 0)[0]).toMatch(/tokens are forced/);
    expect(problemsOf({ logprobs: new Float32Array(tokenIds.length).fill(-1) })[0]).toMatch(/token 0 has log-prob/);
  });
});

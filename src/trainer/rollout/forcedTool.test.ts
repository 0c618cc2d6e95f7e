import { describe, expect, it } from 'vitest';
import type { EpisodeStep } from '../../env/episodeTypes.js';
import { toolSchemas } from '../../env/tools/tools.js';
import { isTurn } from '../../trajectory/message.js';
import type { Task } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
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

/** Of a call without arguments, what stands behind its opening. */
function restOf(codec: TextCodec): Int32Array {
  const { toolFormat } = codec;
  const whole = toolFormat.write('', [{ name: 'submit', arguments: {} }]);
  expect(whole.startsWith(toolFormat.opening('submit'))).toBe(true);
  return codec.encodeTurn(whole.slice(toolFormat.opening('submit').length));
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

describe('a forced tool', () => {
  it.each(fixtureModels)(
    'begins the turn in the format of %s, and only what follows is learned from',
    async (model) => {
      const codec = fixtureCodec(model);
      const rest = restOf(codec);
      const { trajectory, requests } = await play(codec, { toolEpsilon: 1 }, [rest, rest, rest]);
      expect(checkActionMask(trajectory)).toEqual([]);
      const turns = turnsOf(trajectory);
      expect(turns).toHaveLength(3);
      turns.forEach(({ message, tokenIds, actionMask, logprobs, entropies, forced }, index) => {
        expect(isTurn(message) && message.malformedCall).toBe(undefined);
        const [call] = isTurn(message) ? message.toolCalls : [];
        expect(names).toContain(call.name);
        expect(call.arguments).toEqual({});
        const opening = codec.callOpening(call.name, new Int32Array(0));
        expect(forced).toBe(opening.length);
        expect([...tokenIds]).toEqual([...opening, ...rest]);
        // What the policy went on from is what is stored.
        expect([...requests[index].tokenIds.slice(-opening.length)]).toEqual([...opening]);
        expect([...actionMask]).toEqual([...opening.map(() => 0), ...rest.map(() => 1)]);
        for (const values of [logprobs, entropies])
          expect(Array.from(values, Number.isNaN)).toEqual(Array.from(actionMask, (bit) => bit === 0));
      });
      expect(trajectory.statistics.sampledTokens).toBe(3 * rest.length);
      const { actionMask } = trainingSequence(trajectory);
      expect(actionMask.reduce((sum, bit) => sum + bit, 0)).toBe(3 * rest.length);
      const { turnOfToken } = turnViewOf(trajectory);
      const whole = trajectory.nodes.flatMap((node) => [...node.actionMask]);
      expect(Array.from(turnOfToken, (turn) => (turn < 0 ? 0 : 1))).toEqual(whole);
    },
  );

  it('ends the thinking first where the prompt has begun it', () => {
    const codec = fixtureCodec('qwen3');
    const begun = codec.encodeTurn('<think>\n').subarray(0, -1);
    const opening = '<tool_call>\n{"name": "open", "arguments":';
    expect(codec.decode(codec.callOpening('open', begun))).toBe(`\n</think>\n\n${opening}`);
    expect(codec.decode(codec.callOpening('open', codec.encode('go on')))).toBe(opening);
  });

  it('changes nothing where its probability is 0, and nothing of the turns that it leaves alone', async () => {
    const codec = fixtureCodec('embedded');
    const [rest, own] = [restOf(codec), codec.encodeTurn('I look.')];
    const plain = await play(codec, {}, [own, own]);
    expect(await play(codec, { toolEpsilon: 0 }, [own, own])).toEqual(plain);
    expect(turnsOf(plain.trajectory).map((turn) => 'forced' in turn)).toEqual([false, false]);
    const seed = Array.from({ length: 1000 }, (_, one) => one).find((one) => {
      const isForced = [0, 1].map((turn) => forcedTool(deriveSeed(one, turn), 0.5, toolSchemas) !== null);
      return !isForced[0] && isForced[1];
    })!;
    const without = await play(codec, { seed }, [own, own]);
    const mixed = await play(codec, { seed, toolEpsilon: 0.5 }, [own, rest]);
    expect(mixed.requests[0]).toEqual(without.requests[0]);
    expect(turnsOf(mixed.trajectory)[0]).toEqual(turnsOf(without.trajectory)[0]);
    expect(turnsOf(mixed.trajectory)[1].forced).toBeGreaterThan(0);
    expect(mixed.requests[1].seed).toBe(without.requests[1].seed);
  });

  it('takes its part of the length of the turn, and is left out where nothing could follow', async () => {
    const codec = fixtureCodec('embedded');
    const rest = restOf(codec);
    const { trajectory, requests } = await play(codec, { toolEpsilon: 1 }, [rest]);
    const forced = turnsOf(trajectory)[0].forced!;
    expect(requests[0].maxNewTokens).toBe(plainOptions.maxTokensPerTurn - forced);
    const short = await play(codec, { toolEpsilon: 1 }, [rest], { maxTokensPerTurn: forced });
    expect(turnsOf(short.trajectory)[0].forced).toBeUndefined();
    expect(short.requests[0].maxNewTokens).toBe(forced);
  });

  it('leaves the grammar of valid calls behind its opening', async () => {
    const codec = fixtureCodec('embedded');
    const rest = restOf(codec);
    const { requests } = await play(codec, { toolEpsilon: 1 }, [rest], { constrainedCalls: true });
    const allowed = requests[0].constraint!().allowed();
    const next = Array.from(allowed.keys()).filter((id) => allowed[id] === 1);
    expect(next.map((id) => codec.decode([id])).filter((text) => !/^ \{?/.test(text))).toEqual([]);
    expect(next.length).toBeGreaterThan(0);
  });

  it('comes as often as told, any tool alike, by the seed alone', () => {
    const draws = Array.from({ length: 4000 }, (_, seed) => forcedTool(seed, 0.3, toolSchemas));
    expect(Array.from({ length: 4000 }, (_, seed) => forcedTool(seed, 0.3, toolSchemas))).toEqual(draws);
    const forced = draws.filter((name) => name !== null);
    // Five standard deviations of a binomial.
    expect(Math.abs(forced.length - 1200)).toBeLessThan(5 * Math.sqrt(4000 * 0.3 * 0.7));
    for (const name of names) {
      const [count, share] = [forced.filter((one) => one === name).length, 1 / names.length];
      expect(Math.abs(count - forced.length * share)).toBeLessThan(5 * Math.sqrt(forced.length * share * (1 - share)));
    }
    expect(forcedTool(1, 1, [])).toBeNull();
  });
});

describe('the check of the action mask', () => {
  it('wants forced tokens unmasked, at the beginning of a turn that goes on', async () => {
    const codec = fixtureCodec('embedded');
    const { trajectory } = await play(codec, { toolEpsilon: 1 }, [restOf(codec)]);
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

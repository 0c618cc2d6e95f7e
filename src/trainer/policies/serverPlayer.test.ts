import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { Task } from '../../trajectory/task.js';
import type { EpisodePlan, SamplingOptions } from '../rollout/arena.js';
import { playEpisode } from '../rollout/playEpisode.js';
import { answer, plainOptions, scriptedArena } from '../rollout/scripted.testing.js';
import { serverPlayer } from './serverPlayer.js';

type Answer = { status?: number; body: unknown } | 'hang';
interface Request {
  readonly path: string;
  readonly key: string | undefined;
  readonly body: Record<string, unknown> & { messages: Record<string, unknown>[] };
}

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** A server of chat completions that gives its answers in order; what it was asked is kept. */
async function serve(answers: readonly Answer[]) {
  const requests: Request[] = [];
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const given = answers[requests.length] ?? answers.at(-1)!;
      requests.push({
        path: request.url ?? '',
        key: request.headers.authorization,
        body: JSON.parse(text) as Request['body'],
      });
      if (given === 'hang') return;
      response.writeHead(given.status ?? 200, { 'content-type': 'application/json' });
      response.end(typeof given.body === 'string' ? given.body : JSON.stringify(given.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { requests, url: `http://127.0.0.1:${port}/v1` };
}

const completion = (message: object, more: object = {}) => ({
  body: {
    choices: [{ finish_reason: 'stop', message: { role: 'assistant', content: null, ...message }, ...more }],
    usage: { completion_tokens: 5 },
  },
});
const calling = (name: string, args: unknown = '{}', more: object = {}) =>
  completion({ tool_calls: [{ id: 'abc', type: 'function', function: { name, arguments: args } }] }, more);

const options: SamplingOptions = { ...plainOptions, temperature: 0.5, topP: 0.9 };
const task = { instance_id: 'task', whetstone: { split: 'train' } } as Task;
const plan: EpisodePlan = { id: 'eval/task/0', kind: 'evaluation', step: 0, task, sample: 0, seed: 7 };

function play(url: string, signal = new AbortController().signal, more: Partial<SamplingOptions> = {}) {
  const { arena } = scriptedArena((message) => {
    const [call] = message.toolCalls;
    if (message.malformedCall !== undefined)
      return Promise.resolve({ observations: [answer('malformed-1', 'Malformed.')], stopReason: null });
    return Promise.resolve({
      observations: call === undefined ? [] : [answer(call.id, `did ${call.name}`)],
      stopReason: call === undefined ? 'no-tool-call' : call.name === 'submit' ? 'submitted' : null,
    });
  });
  const player = serverPlayer({ url, model: 'a-model', apiKey: 'secret', requestSeconds: 5 });
  return playEpisode(player, arena, plan, { ...options, ...more }, signal);
}

describe('a server’s model plays an episode', () => {
  test('whose calls and answers go back and forth in OpenAI’s form', async () => {
    const { requests, url } = await serve([calling('open', '{"path": "a.js"}'), calling('submit')]);
    const trajectory = await play(url);
    expect(trajectory).toMatchObject({ stopReason: 'submitted', grade: { resolved: true } });
    expect(requests[0]).toMatchObject({ path: '/v1/chat/completions', key: 'Bearer secret' });
    expect(requests[0]!.body).toMatchObject({ model: 'a-model', temperature: 0.5, top_p: 0.9, max_tokens: 200 });
    expect(requests[0]!.body).not.toHaveProperty('top_k');
    expect(requests[1]!.body.messages.slice(2)).toEqual([
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'abc', type: 'function', function: { name: 'open', arguments: '{"path":"a.js"}' } }],
      },
      { role: 'tool', tool_call_id: 'abc', content: 'did open' },
    ]);
    expect(requests[1]!.body.seed).not.toBe(requests[0]!.body.seed);
    expect(trajectory.statistics.sampledTokens).toBe(10);
  });

  test('with token ids and log-probabilities where the server gives both', async () => {
    const logprobs = { content: [{ logprob: -0.5 }, { logprob: -0.25 }] };
    const { url } = await serve([calling('submit', '{}', { token_ids: [7, 8], logprobs })]);
    const [, , turn] = (await play(url)).nodes;
    expect([...turn!.tokenIds]).toEqual([7, 8]);
    expect([...turn!.logprobs]).toEqual([-0.5, -0.25]);
    expect([...turn!.actionMask]).toEqual([1, 1]);
  });

  test('as llama.cpp gives them, the ids beside the log-probabilities', async () => {
    const logprobs = { content: [{ id: 3, token: 'a', logprob: -1 }] };
    const { url } = await serve([calling('submit', '{}', { logprobs })]);
    expect([...(await play(url)).nodes[2]!.tokenIds]).toEqual([3]);
  });

  test('without tokens, rather than guessed ones, where ids are missing', async () => {
    const { url } = await serve([calling('submit', '{}', { logprobs: { content: [{ logprob: -1 }] } })]);
    const trajectory = await play(url);
    expect(trajectory.nodes[2]!.tokenIds).toHaveLength(0);
    expect(trajectory.statistics.sampledTokens).toBe(5);
  });

  test.each([
    ['<tool_call>{"name": "submit", "arguments": {}}</tool_call>'],
    ['<tool_call>\n<function=submit>\n</function>\n</tool_call>'],
    ['{"name": "submit", "parameters": {}}'],
    ['[TOOL_CALLS][{"name": "submit", "arguments": {}}]'],
    ['Thought: done\nAction: submit\nAction Input: {}'],
  ])('with a call in its text, where the server parses none: %j', async (content) => {
    const { url } = await serve([completion({ content, reasoning_content: 'hm' })]);
    const trajectory = await play(url);
    expect(trajectory.stopReason).toBe('submitted');
    expect(trajectory.nodes[2]!.message).toMatchObject({ thinking: 'hm' });
  });

  test('whose malformed arguments are answered', async () => {
    const { requests, url } = await serve([calling('open', '{"path": '), calling('submit')]);
    const trajectory = await play(url);
    expect(trajectory.nodes[2]!.message).toMatchObject({
      malformedCall: 'the arguments of open are not a JSON object',
    });
    expect(requests[1]!.body.messages.at(-1)).toEqual({ role: 'user', content: 'Malformed.' });
  });
});

/** What llama.cpp's own server said in a whole episode: scripts/golden/llama_server.mjs. */
const ofLlamaServer = JSON.parse(
  readFileSync(new URL('../../../scripts/golden/llama_server.json', import.meta.url), 'utf8'),
) as { status: number; body: RecordedAnswer }[];
interface RecordedAnswer {
  readonly usage?: { readonly total_tokens: number };
  readonly choices?: {
    readonly message: { readonly reasoning_content?: string; readonly tool_calls: { function: { name: string } }[] };
    readonly logprobs: { readonly content: { id: number; logprob: number }[] };
  }[];
}

test('llama.cpp’s own server plays: calls, thinking, ids, log-probabilities and the end of its context are read', async () => {
  const { url } = await serve(ofLlamaServer);
  const trajectory = await play(url);
  expect(trajectory).toMatchObject({ stopReason: 'token-limit', infrastructureError: null });
  const turns = trajectory.nodes.filter(({ message }) => message.role === 'assistant');
  const said = ofLlamaServer.flatMap(({ body }) => body.choices ?? []);
  expect(said).toHaveLength(ofLlamaServer.length - 1);
  expect(turns).toHaveLength(said.length);
  turns.forEach(({ message, tokenIds, logprobs, actionMask }, index) => {
    const { message: answered, logprobs: given } = said[index]!;
    const { name } = answered.tool_calls[0]!.function;
    expect(message).toMatchObject({ toolCalls: [{ name, arguments: expect.any(Object) as object }] });
    expect(message).not.toHaveProperty('malformedCall');
    expect((message as { thinking?: string }).thinking).toBe(answered.reasoning_content);
    expect([...tokenIds]).toEqual(given.content.map(({ id }) => id));
    expect([...logprobs]).toEqual(given.content.map(({ logprob }) => Math.fround(logprob)));
    expect(actionMask).not.toContain(0);
    // The end of the turn is a token of its own, whose log-probability counts.
    expect(tokenIds.at(-1)).toBe(2);
  });
  const sampledTokens = turns.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  // The prompt's are counted, though nobody says which they are.
  expect(trajectory.statistics).toMatchObject({
    sampledTokens,
    totalTokens: ofLlamaServer.at(-2)!.body.usage!.total_tokens,
  });
});

describe('a server that', () => {
  test('refuses parts of the request is asked without them', async () => {
    const refusal = (field: string) => ({
      status: 400,
      body: { error: { message: `Unrecognized argument: ${field}` } },
    });
    const { requests, url } = await serve([refusal('return_token_ids'), refusal('logprobs'), calling('submit')]);
    expect((await play(url)).stopReason).toBe('submitted');
    expect(requests[2]!.body).not.toHaveProperty('logprobs');
    expect(requests[2]!.body).toHaveProperty('seed');
  });

  test('is overloaded is asked again', async () => {
    const { requests, url } = await serve([{ status: 503, body: 'loading' }, calling('submit')]);
    expect((await play(url)).stopReason).toBe('submitted');
    expect(requests).toHaveLength(2);
  });

  test('loads its model is asked more often than an overloaded one', async () => {
    const loading = {
      status: 503,
      body: { error: { message: 'Loading model', type: 'unavailable_error', code: 503 } },
    };
    const { requests, url } = await serve([...Array<Answer>(4).fill(loading), calling('submit')]);
    expect((await play(url)).stopReason).toBe('submitted');
    expect(requests).toHaveLength(5);
  });

  test('has no room for the conversation ends the episode at the token limit', async () => {
    const { url } = await serve([
      { status: 400, body: { error: { message: 'the request exceeds the context size' } } },
    ]);
    expect(await play(url)).toMatchObject({ stopReason: 'token-limit', infrastructureError: null });
  });

  test('knows no such key or model is told in one line', async () => {
    const { url } = await serve([{ status: 401, body: 'bad key' }]);
    await expect(play(url)).rejects.toMatchObject({
      kind: 'bad-input',
      remedy: { message: expect.stringContaining('OPENAI_API_KEY') as string },
    });
    server.close();
    const other = await serve([{ status: 404, body: { error: { message: 'no model' } } }]);
    await expect(play(other.url)).rejects.toMatchObject({
      kind: 'bad-input',
      message: expect.stringContaining('(404: no model)') as string,
      remedy: { message: expect.stringContaining("'a-model'") as string },
    });
  });

  test('is none of its kind is told', async () => {
    const { url } = await serve([{ body: '<html>' }]);
    await expect(play(url)).rejects.toMatchObject({
      kind: 'bad-input',
      message: expect.stringContaining('no JSON') as string,
    });
  });

  test('hangs is let go of when the episode is cancelled', async () => {
    const { requests, url } = await serve(['hang']);
    const abort = new AbortController();
    const played = expect(play(url, abort.signal)).rejects.toMatchObject({ kind: 'cancelled' });
    while (requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    abort.abort();
    await played;
  });
});

import { afterEach, describe, expect, test } from 'vitest';
import type * as vscode from 'vscode';
import { editorModel, type LanguageModelApi } from '../src/extension/languageModels/editorModel.js';
import { openModelEndpoint, type ModelEndpoint } from '../src/extension/languageModels/modelEndpoint.js';
import { serverPlayer } from '../src/trainer/policies/serverPlayer.js';
import type { EpisodePlan, SamplingOptions } from '../src/trainer/rollout/arena.js';
import { playEpisode } from '../src/trainer/rollout/playEpisode.js';
import { answer, plainOptions, scriptedArena } from '../src/trainer/rollout/scripted.testing.js';
import type { Task } from '../src/trajectory/task.js';

class TextPart {
  constructor(readonly value: string) {}
}
class CallPart {
  constructor(
    readonly callId: string,
    readonly name: string,
    readonly input: object,
  ) {}
}
class ResultPart {
  constructor(
    readonly callId: string,
    readonly content: unknown[],
  ) {}
}
class Message {
  constructor(
    readonly role: string,
    readonly content: unknown,
  ) {}
  static User = (content: unknown) => new Message('user', content);
  static Assistant = (content: unknown) => new Message('assistant', content);
}
class Source {
  private readonly listeners: (() => void)[] = [];
  readonly token = {
    isCancellationRequested: false,
    onCancellationRequested: (listener: () => void) =>
      this.token.isCancellationRequested ? listener() : void this.listeners.push(listener),
  };
  cancel() {
    this.token.isCancellationRequested = true;
    for (const listener of this.listeners) listener();
  }
  dispose() {
    this.listeners.length = 0;
  }
}
/** What of the editor the model is asked through. */
const api = {
  CancellationTokenSource: Source,
  LanguageModelChatMessage: Message,
  LanguageModelTextPart: TextPart,
  LanguageModelToolCallPart: CallPart,
  LanguageModelToolResultPart: ResultPart,
} as unknown as LanguageModelApi;

type Request = { messages: Message[]; options: vscode.LanguageModelChatRequestOptions };
type Turn = unknown[] | Error | Promise<void> | 'hang';

/** A model of the editor's that says its turns in order, the last one again and again; what it was asked is kept. */
function fakeModel(turns: readonly Turn[], maxInputTokens = 0) {
  const requests: Request[] = [];
  let cancelled = 0;
  let [now, most] = [0, 0];
  const sendRequest = async (
    messages: Message[],
    options: Request['options'],
    token: { onCancellationRequested(listener: () => void): void },
  ) => {
    const turn = turns[Math.min(requests.push({ messages, options }), turns.length) - 1]!;
    if (turn instanceof Error) throw turn;
    most = Math.max(most, ++now);
    const hang = () =>
      new Promise<never>((_, reject) =>
        token.onCancellationRequested(() => {
          cancelled++;
          reject(new Error('Canceled'));
        }),
      );
    async function* stream() {
      try {
        if (turn === 'hang') await hang();
        else if (turn instanceof Promise) await turn;
        else for (const part of turn as unknown[]) yield await Promise.resolve(part);
      } finally {
        now--;
      }
    }
    return Promise.resolve({ stream: stream() });
  };
  const model = {
    id: 'a-model',
    name: 'A Model',
    maxInputTokens,
    countTokens: (text: string) => Promise.resolve(text.length),
    sendRequest,
  } as unknown as vscode.LanguageModelChat;
  return {
    model,
    requests,
    get cancelled() {
      return cancelled;
    },
    get most() {
      return most;
    },
  };
}

const refused = (code: string, message: string) => Object.assign(new Error(message), { code });
const open = new CallPart('call-a', 'open', { path: 'a.js' });
const submit = new CallPart('call-b', 'submit', {});

let endpoint: ModelEndpoint | undefined;
afterEach(() => endpoint?.close());

const options: SamplingOptions = { ...plainOptions, temperature: 0.5 };
const task = { instance_id: 'task', whetstone: { split: 'train' } } as Task;
const plan: EpisodePlan = { id: 'eval/task/0', kind: 'evaluation', step: 0, task, sample: 0, seed: 7 };

/** Plays an episode with the model, over the wire. */
async function play({ model }: { model: vscode.LanguageModelChat }, signal = new AbortController().signal) {
  endpoint = await openModelEndpoint(editorModel(api, model));
  const { arena } = scriptedArena((message) => {
    const calls = message.toolCalls;
    return Promise.resolve({
      observations: calls.map(({ id, name }) => answer(id, `did ${name}`)),
      stopReason:
        calls.length === 0 ? 'no-tool-call' : calls.some(({ name }) => name === 'submit') ? 'submitted' : null,
    });
  });
  const player = serverPlayer({ url: endpoint.url, model: model.id, apiKey: endpoint.token, requestSeconds: 10 });
  return playEpisode(player, arena, plan, options, signal);
}

describe('a language model of the editor’s plays an episode', () => {
  test('whose calls and answers go back and forth in the editor’s form', async () => {
    const fake = fakeModel([[new TextPart('I '), new TextPart('look.'), open], [submit]]);
    const trajectory = await play(fake);
    expect(trajectory).toMatchObject({ stopReason: 'submitted', infrastructureError: null });
    const turns = trajectory.nodes.map(({ message }) => message).filter(({ role }) => role === 'assistant');
    expect(turns[0]).toMatchObject({
      content: 'I look.',
      toolCalls: [{ id: 'call-a', name: 'open', arguments: { path: 'a.js' } }],
    });
    const [first, second] = fake.requests;
    expect(first!.messages.every(({ role }) => role === 'user')).toBe(true);
    expect(first!.options).toMatchObject({ modelOptions: { temperature: 0.5, top_p: 1 } });
    expect(second!.messages.slice(-2)).toEqual([
      Message.Assistant([new TextPart('I look.'), open]),
      Message.User([new ResultPart('call-a', [new TextPart('did open')])]),
    ]);
    expect(trajectory.statistics.sampledTokens).toBeGreaterThan(0);
    expect(endpoint!.answers).toEqual({ count: 2, withCalls: 2 });
  });

  test('and the answers to the calls of one turn go back together', async () => {
    const other = new CallPart('call-c', 'search', { query: 'x' });
    const fake = fakeModel([[open, other], [submit]]);
    await play(fake);
    expect(fake.requests[1]!.messages.at(-1)).toEqual(
      Message.User([
        new ResultPart('call-a', [new TextPart('did open')]),
        new ResultPart('call-c', [new TextPart('did search')]),
      ]),
    );
  });

  test('with the tools that the environment has', async () => {
    const fake = fakeModel([[submit]]);
    await play(fake);
    endpoint = undefined;
    const asked = await openModelEndpoint(editorModel(api, fake.model));
    const schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
    const tools = [{ type: 'function', function: { name: 'open', description: 'Shows.', parameters: schema } }];
    await ask(asked, { model: 'a-model', messages: [{ role: 'user', content: 'x' }], tools });
    expect(fake.requests.at(-1)!.options.tools).toEqual([{ name: 'open', description: 'Shows.', inputSchema: schema }]);
    await asked.close();
  });

  test.each([
    ['NoPermissions', 'denied', /not allowed to use A Model/],
    ['Blocked', 'over the limit', /a quota is used up, or it is blocked \(over the limit\)/],
    ['Unknown', 'You exceeded your monthly quota', /a quota is used up/],
    ['NotFound', 'gone', /not there any more/],
    ['Unknown', 'This model does not support tools', /cannot call tools/],
  ])('until it says that it answers no more (%s: %s), which is told once', async (code, message, problem) => {
    const fake = fakeModel([[open], refused(code, message)]);
    await expect(play(fake)).rejects.toMatchObject({ kind: 'bad-input' });
    expect(endpoint!.problem?.line).toMatch(problem);
    expect(fake.requests).toHaveLength(2);
  });

  test('which asks again where an answer failed in passing', async () => {
    const fake = fakeModel([new Error('net::ERR_RESET'), [submit]]);
    expect(await play(fake)).toMatchObject({ stopReason: 'submitted' });
    expect(endpoint!.problem).toBeNull();
  });

  test('to the end of its context', async () => {
    const fake = fakeModel([[submit]], 10);
    expect(await play(fake)).toMatchObject({ stopReason: 'token-limit', infrastructureError: null });
    expect(fake.requests).toHaveLength(0);
  });

  test('also where it cannot count tokens', async () => {
    const fake = fakeModel([[submit]], 10);
    const model = { ...fake.model, countTokens: () => Promise.reject(new Error('not here')) };
    expect(await play({ model })).toMatchObject({ stopReason: 'submitted' });
  });

  test('and is let go of when the episode is cancelled', async () => {
    const fake = fakeModel(['hang']);
    const abort = new AbortController();
    const played = expect(play(fake, abort.signal)).rejects.toMatchObject({ kind: 'cancelled' });
    while (fake.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    abort.abort();
    await played;
    while (fake.cancelled === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(fake.cancelled).toBe(1);
  });
});

const ask = ({ url, token }: ModelEndpoint, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const request = { model: 'a-model', messages: [{ role: 'user', content: 'Hello' }] };

describe('the address of a lent model', () => {
  test('is on the loopback alone, with a token of its own each time', async () => {
    const { model } = fakeModel([[submit]]);
    endpoint = await openModelEndpoint(editorModel(api, model));
    const other = await openModelEndpoint(editorModel(api, model));
    expect(endpoint.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    expect(endpoint.token).not.toBe(other.token);
    expect((await ask({ ...endpoint, token: other.token } as ModelEndpoint, request)).status).toBe(401);
    await other.close();
  });

  test.each<[string, number, (to: ModelEndpoint) => Promise<Response>]>([
    ['no token', 401, ({ url }) => fetch(`${url}/chat/completions`, { method: 'POST', body: '{}' })],
    ['a wrong token', 401, (to) => ask({ ...to, token: 'x'.repeat(43) } as ModelEndpoint, request)],
    ['a page of a browser', 403, (to) => ask(to, request, { origin: 'http://example.org' })],
    [
      'another path',
      404,
      ({ url, token }) => fetch(`${url}/models`, { headers: { authorization: `Bearer ${token}` } }),
    ],
    ['another model', 404, (to) => ask(to, { ...request, model: 'b-model' })],
    ['no JSON', 422, (to) => ask(to, 'hello')],
    ['a stream', 422, (to) => ask(to, { ...request, stream: true })],
    [
      'calls whose arguments are none',
      422,
      (to) =>
        ask(to, {
          ...request,
          messages: [{ role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'open', arguments: '[' } }] }],
        }),
    ],
  ])('refuses %s', async (_, status, send) => {
    const fake = fakeModel([[submit]]);
    endpoint = await openModelEndpoint(editorModel(api, fake.model));
    const response = await send(endpoint);
    expect([response.status, await response.json()]).toMatchObject([status, { error: { message: /./ } }]);
    expect(fake.requests).toHaveLength(0);
  });

  test('lets four requests be answered at a time', async () => {
    let release!: () => void;
    const fake = fakeModel([new Promise<void>((resolve) => (release = resolve))]);
    endpoint = await openModelEndpoint(editorModel(api, fake.model));
    const responses = Array.from({ length: 12 }, () => ask(endpoint!, request));
    while (fake.requests.length < 4) await new Promise((resolve) => setTimeout(resolve, 5));
    release();
    const statuses = (await Promise.all(responses)).map(({ status }) => status);
    expect(statuses).toEqual(Array.from({ length: 12 }, () => 200));
    expect(fake.most).toBe(4);
  });

  test('is gone when it is closed, with what was being answered', async () => {
    const fake = fakeModel(['hang']);
    endpoint = await openModelEndpoint(editorModel(api, fake.model));
    const asked = expect(ask(endpoint, request)).rejects.toThrow();
    while (fake.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await endpoint.close();
    await asked;
    while (fake.cancelled === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await expect(ask(endpoint, request)).rejects.toThrow();
  });
});

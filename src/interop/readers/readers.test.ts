import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { WhetstoneError } from '../../trajectory/errors.js';
import type { Message } from '../../trajectory/message.js';
import { readForeignTrajectories } from './readTrajectories.js';
import { unpack } from './unpack.js';

const folder = path.resolve('test-fixtures/interop');
const read = (name: string) => readForeignTrajectories(readFileSync(path.join(folder, name)), name);
const readText = (value: unknown, name = 'file.json') =>
  readForeignTrajectories(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), name);
const roles = (messages: readonly { message: Message }[]) => messages.map(({ message }) => message.role);

describe('files that their own systems wrote', () => {
  it('SWE-agent: calls, observations by their call’s name, the submitted patch', () => {
    const { format, trajectories } = read('swe-agent.traj');
    const [{ trajectory }] = trajectories;
    expect(format).toBe('swe-agent');
    expect(roles(trajectory.nodes).slice(0, 4)).toEqual(['system', 'user', 'assistant', 'tool']);
    expect(trajectory.nodes[2].message).toMatchObject({ toolCalls: [{ name: 'find_file' }] });
    expect(trajectory.nodes[3].message).toMatchObject({ name: 'find_file' });
    expect(trajectory).toMatchObject({ taskId: 'swe-agent', stopReason: 'submitted', grade: null });
    expect(trajectory.patch).toMatch(/^diff --git a\/tests\/missing_colon.py/);
  });

  it('mini-swe-agent: its commands as calls, and an end that is no message of the conversation', () => {
    const { format, trajectories } = read('mini-swe-agent.traj.json');
    const [{ trajectory }] = trajectories;
    expect(format).toBe('mini-swe-agent');
    expect(roles(trajectory.nodes)).toEqual(
      ['system', 'user', 'assistant', 'tool', 'assistant', 'tool'].slice(0, trajectory.nodes.length),
    );
    expect(trajectory.nodes[2].message).toMatchObject({
      content: 'Let me look.',
      toolCalls: [{ name: 'bash', arguments: { command: "echo 'one é' && false" } }],
    });
    expect(trajectory).toMatchObject({ stopReason: 'submitted', patch: 'diff --git a/x b/x\n' });
  });

  it.each(['inspect.eval', 'inspect.json'])('Inspect (%s): the sample with its score', (name) => {
    const { format, trajectories } = read(name);
    const [{ trajectory, model }] = trajectories;
    expect(format).toBe('inspect');
    expect(model).toBe('mockllm/model');
    expect(roles(trajectory.nodes)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(trajectory.nodes[1].message).toMatchObject({ toolCalls: [{ name: 'add', arguments: { x: 1, y: 2 } }] });
    expect(trajectory).toMatchObject({ taskId: 'sums/sum', grade: { reward: 1, resolved: true } });
  });

  it('verifiers: a tree with tokens, masks and log-probabilities of the sampled ones', () => {
    const { format, trajectories } = read('verifiers.jsonl');
    const [{ trajectory, learned }] = trajectories;
    expect(format).toBe('verifiers');
    expect(trajectory.nodes.map(({ parent }) => parent)).toEqual([null, 0, 1, 2, 3, 4, 5, 3]);
    const turn = trajectory.nodes[2];
    expect([...turn.actionMask]).toEqual([1, 1, 1, 1, 1]);
    expect([...turn.logprobs]).toEqual([-0.25, -0.5, -0.75, -1, -1.25]);
    expect([...trajectory.nodes[3].logprobs]).toEqual([NaN, NaN, NaN, NaN]);
    expect(learned?.advantages.filter((value) => value !== 0)).toHaveLength(12);
  });

  it('verl: a dump’s rows, numbered within their task', () => {
    const { format, trajectories } = read('verl.jsonl');
    expect(format).toBe('verl');
    expect(trajectories.map(({ trajectory: { id, grade } }) => [id, grade?.reward])).toEqual([
      ['step-000007/sums__1/0', 1],
      ['step-000007/sums__1/1', 0],
    ]);
  });
});

describe('a conversation of OpenAI’s form', () => {
  it('is read from messages by themselves, a row of them, and TRL’s prompt and completion', () => {
    const prompt = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hello' },
          { type: 'image_url', image_url: {} },
        ],
      },
    ];
    const completion = [
      { role: 'assistant', content: null, tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{"x":1}' } }] },
    ];
    for (const value of [
      [...prompt, ...completion],
      { messages: [...prompt, ...completion] },
      { prompt, completion },
    ]) {
      const { format, trajectories } = readText(value);
      expect(format).toBe('openai');
      expect(trajectories[0].trajectory.nodes.map(({ message }) => message)).toEqual([
        { role: 'user', content: 'Hello[image_url]' },
        { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'f', arguments: { x: 1 } }], raw: '' },
      ]);
    }
  });

  it('says which arguments are no object', () => {
    const call = { id: 'a', function: { name: 'f', arguments: '{"x":' } };
    const { trajectories } = readText([{ role: 'assistant', content: '', tool_calls: [call] }]);
    expect(trajectories[0].trajectory.nodes[0].message).toMatchObject({
      toolCalls: [],
      malformedCall: 'the arguments of f are no JSON object',
    });
  });
});

it('an output of verl’s agent loop falls into turns where its mask changes', () => {
  const row = {
    prompt_ids: [1, 2],
    response_ids: [3, 4, 5, 6],
    response_mask: [1, 1, 0, 1],
    response_logprobs: [-1, -2, 0, -3],
  };
  const { nodes } = readText(row).trajectories[0].trajectory;
  expect(nodes.map(({ tokenIds }) => [...tokenIds])).toEqual([[1, 2], [3, 4], [5], [6]]);
  expect(nodes.flatMap(({ logprobs }) => [...logprobs])).toEqual([NaN, NaN, -1, -2, NaN, -3]);
});

describe('what is broken', () => {
  const trace = () =>
    JSON.parse(readFileSync(path.join(folder, 'verifiers.jsonl'), 'utf8')) as { nodes: Record<string, unknown>[] };
  it.each([
    ['an empty file', '', /is empty/],
    ['what is no JSON', '{"a":', /line 1: it is not JSON/],
    ['a later line that is no JSON', '{"messages":[]}\nx', /line 2: it is not JSON/],
    ['another kind of file', { hello: 1 }, /it is no trajectory of/],
    ['a role that is none', [{ role: 'robot', content: 'x' }], /message 1: there is no role "robot"/],
    ['a mask that is too short', { prompt_ids: [1], response_ids: [2, 3], response_mask: [1] }, /2 ids .* mask of 1/],
  ])('gives one line: %s', (_, value, line) => {
    expect(() => readText(value)).toThrow(line);
  });

  it('gives one line for a trace whose parents go in a circle or whose log-probabilities are too few', () => {
    const circle = trace();
    circle.nodes[1].parent = 5;
    expect(() => readText(circle)).toThrow(/node 2: its parent does not stand before it/);
    const few = trace();
    few.nodes[2].logprobs = [-1];
    expect(() => readText(few)).toThrow(/node 3: logprobs: there are 1 for 5 sampled tokens/);
  });

  it('gives one line for an archive without a header, one that unpacks to too much, and one that is cut', () => {
    expect(() => readForeignTrajectories(zipSync({ 'samples/a.json': Buffer.from('{}') }), 'a.eval')).toThrow(
      /no header/,
    );
    const zeros = zipSync({ 'header.json': new Uint8Array(1 << 16) });
    expect(() => unpack(zeros, () => true, 1 << 15, 'a.eval')).toThrow(/a.eval: it holds more than/);
    expect(unpack(zeros, () => true, 1 << 16, 'a.eval').get('header.json')).toHaveLength(1 << 16);
    expect(() => readForeignTrajectories(zeros.subarray(0, 60), 'a.eval')).toThrow(/a.eval: /);
  });

  it('never fails otherwise, whatever the JSON', () => {
    const names = [
      'role',
      'content',
      'messages',
      'history',
      'nodes',
      'task',
      'agent',
      'eval',
      'status',
      'version',
      'samples',
    ];
    const key = fc.constantFrom(
      ...names,
      'info',
      'tool_calls',
      'input',
      'output',
      'parent',
      'message',
      'prompt_ids',
      'response_ids',
    );
    const leaf = fc.oneof(
      fc.constantFrom('assistant', 'user', 'tool', 'mini-swe-agent-1.1'),
      fc.jsonValue({ maxDepth: 1 }),
    );
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        leaf,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 5 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        try {
          readText(value);
        } catch (error) {
          expect(error).toBeInstanceOf(WhetstoneError);
        }
      }),
      { numRuns: 400 },
    );
  });
});

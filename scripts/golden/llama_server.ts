import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { loadCheckpoint, type Checkpoint } from '../../src/trainer/model/checkpoint.js';
import { createLearner } from '../../src/trainer/model/learner.js';
import { embeddedTemplate } from '../../src/trainer/text/embeddedTemplate.js';
import { plainGguf } from '../bench/plainGguf.js';

interface Paths {
  readonly python: string;
  readonly repo: string;
  readonly task: string;
  readonly root: string;
  readonly folder: string;
}

interface Answer {
  readonly choices?: { readonly logprobs?: { readonly content?: readonly { id: number; logprob: number }[] } }[];
}
interface Exchange {
  readonly request: { readonly messages: unknown; readonly tools: unknown };
  readonly status: number;
  readonly body: Answer;
}

/**
 * Most that a log-probability of llama.cpp may differ from the learner's. It computes attention and norms in another order, in
 * float32 as we do.
 */
const tolerance = 1e-3;

/** Plays, checks and writes the answers; throws where anything is not as it should be. */
export async function play({ python, repo, task, root, folder }: Paths): Promise<void> {
  const checkpoint = await loadCheckpoint('embedded');
  const file = path.join(folder, 'embedded.gguf');
  await writeFile(file, await embeddedGguf(checkpoint));
  const script = path.join(root, 'scripts/golden/llama_server.py');
  const server = spawn(python, [script, file, String(checkpoint.config.maxPositions)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    const address = await firstLine(server);
    const recorder = await record(address);
    const policy = ['--policy', `openai:${recorder.url}/v1`, '--policy-model', 'embedded'];
    const more = ['--task', task, '--samples', '1', '--temperature', '0.7', '--json'];
    const cli = [path.join(root, 'dist/cli.cjs'), 'eval', '--repo', repo, ...policy, ...more];
    const { stdout } = await promisify(execFile)(process.execPath, cli);
    recorder.close();
    const { metrics } = JSON.parse(stdout) as { metrics: Record<string, number> };
    if (metrics.infrastructure_failures !== 0) throw new Error(`the episode failed: ${stdout}`);
    const answered = recorder.exchanges.filter(({ status }) => status === 200);
    const { difference, tokens } = await comparedWithLearner(address, answered, checkpoint);
    console.log(`${answered.length} turns, ${tokens} tokens, log-probs differ by ${difference.toExponential(1)} at most`);
    if (tokens === 0 || !(difference < tolerance)) throw new Error('llama.cpp and the learner do not agree');
    const answers = recorder.exchanges.map(({ status, body }) => ({ status, body }));
    await writeFile(path.join(root, 'scripts/golden/llama_server.json'), `${JSON.stringify(answers)}\n`);
  } finally {
    server.kill();
  }
}

/** The embedded policy with its vocabulary; llama.cpp has no name for how it cuts words, so it is told SmolLM2's way. */
async function embeddedGguf({ config, parameters, folder }: Checkpoint): Promise<Buffer> {
  const { model, added_tokens: added } = JSON.parse(await readFile(path.join(folder, 'tokenizer.json'), 'utf8')) as {
    model: { vocab: Record<string, number>; merges: (string | [string, string])[] };
    added_tokens: { id: number; content: string }[];
  };
  const tokens: string[] = [];
  for (const [token, id] of Object.entries(model.vocab)) tokens[id] = token;
  for (const { id, content } of added) tokens[id] = content;
  const [normal, control] = [1, 3];
  const types = tokens.map((_, id) => (added.some((one) => one.id === id) ? control : normal));
  return plainGguf(config, parameters, {
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': 'smollm',
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.token_type': { int32s: types },
    'tokenizer.ggml.merges': model.merges.map((merge) => (typeof merge === 'string' ? merge : merge.join(' '))),
    'tokenizer.ggml.eos_token_id': tokens.indexOf('<|im_end|>'),
    'tokenizer.ggml.add_bos_token': false,
    'tokenizer.chat_template': embeddedTemplate,
  });
}

async function firstLine(server: ChildProcess): Promise<string> {
  const [said] = (await Promise.race([
    once(server.stdout!, 'data'),
    once(server, 'exit').then(() => Promise.reject(new Error('llama.cpp does not start'))),
  ])) as [Buffer];
  return said.toString().trim();
}

/** Stands before the server and keeps what goes back and forth. */
async function record(address: string) {
  const exchanges: Exchange[] = [];
  const proxy = createServer((request, response) => {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const sent = Buffer.concat(parts).toString();
      const answer = await fetch(`${address}${request.url}`, { method: 'POST', body: sent });
      const text = await answer.text();
      exchanges.push({ request: JSON.parse(sent), status: answer.status, body: JSON.parse(text) } as Exchange);
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
    })();
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return { url, exchanges, close: () => (proxy.closeAllConnections(), proxy.close()) };
}

/** Largest difference between the server's log-probabilities and the learner's of the same ids behind the same prompt. */
async function comparedWithLearner(address: string, exchanges: readonly Exchange[], { config, parameters }: Checkpoint) {
  const ask = async (where: string, body: unknown) =>
    (await fetch(`${address}/${where}`, { method: 'POST', body: JSON.stringify(body) })).json();
  const files = { write: () => Promise.resolve(), read: () => Promise.resolve(parameters) };
  const learner = await createLearner({ config, parameters, files, device: 'cpu' });
  let difference = 0;
  let tokens = 0;
  for (const { request, body } of exchanges) {
    const { messages, tools } = request;
    const { prompt } = (await ask('apply-template', { messages, tools })) as { prompt: string };
    const asked = { content: prompt, add_special: true, parse_special: true };
    const { tokens: given } = (await ask('tokenize', asked)) as { tokens: number[] };
    const sampled = body.choices![0]!.logprobs!.content!;
    const tokenIds = Int32Array.from([...given, ...sampled.map(({ id }) => id)]);
    const actionMask = Uint8Array.from(tokenIds, (_, index) => Number(index >= given.length));
    const [scores] = await learner.score([{ tokenIds, actionMask }], 1);
    sampled.forEach(({ logprob }, index) => {
      difference = Math.max(difference, Math.abs(scores!.logprobs[given.length + index]! - logprob));
    });
    tokens += sampled.length;
  }
  await learner.dispose();
  return { difference, tokens };
}

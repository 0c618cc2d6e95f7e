import { createHash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WhetstoneError } from '../../../trajectory/errors.js';
import { cachedModel, HubCache } from './hubCache.js';
import { fetchModel, type HubOptions } from './fetchModel.js';
import { modelPlace, parseHubModel, type HubModel } from './modelName.js';

const commit = 'c0ffee'.padEnd(40, '0');
const large = Buffer.alloc(300_000, 'weights ');
const repository: Record<string, Buffer> = {
  'config.json': Buffer.from('{"model_type":"llama"}'),
  'tokenizer.json': Buffer.from('{}'),
  'tokenizer_config.json': Buffer.from('{}'),
  'README.md': Buffer.from('not wanted'),
  'model.safetensors': large,
  'model.Q8_0.gguf': Buffer.from('GGUF'),
};
const model: HubModel = { repo: 'owner/tiny', revision: 'main', file: null };

let root: string;
let server: Server;
let requests: IncomingMessage[];
let files: Record<string, Buffer>;
/** Answers in place of the hub where it says so. */
let interfere: (request: IncomingMessage, response: ServerResponse) => boolean;
let said: string[];
let options: HubOptions & { cache: HubCache };

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "hub 'é-"));
  requests = [];
  said = [];
  files = { ...repository };
  interfere = () => false;
  server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  options = {
    environment: { HF_ENDPOINT: address(server), HF_HOME: root },
    cache: new HubCache(model.repo, path.join(root, 'cache')),
    say: (line) => said.push(line),
    retryMs: 1,
  };
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(root, { recursive: true });
});

const address = (of: Server) => `http://127.0.0.1:${(of.address() as AddressInfo).port}`;
const hash = (kind: string, bytes: Buffer, prefix = '') => createHash(kind).update(prefix).update(bytes).digest('hex');
const fetchedFiles = () => requests.map(({ url }) => /\/resolve\/[^/]+\/(.+)$/.exec(url!)?.[1]).filter(Boolean);

/** The parts of the hub's interface that are asked for: a model's commit, its files with checksums, their bytes by range. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  requests.push(request);
  if (interfere(request, response)) return;
  const json = (value: unknown) => response.setHeader('Content-Type', 'application/json').end(JSON.stringify(value));
  const [, api] = /^\/api\/models\/owner\/tiny\/?([^?]*)/.exec(request.url!) ?? [];
  if (api?.startsWith('revision/main') || api === '') return void json({ id: 'owner/tiny', _id: 'x', sha: commit });
  if (api === `tree/${commit}`) {
    const entries = Object.entries(files).map(([name, bytes]) => {
      const entry = {
        type: 'file',
        path: name,
        size: bytes.length,
        oid: hash('sha1', bytes, `blob ${bytes.length}\0`),
      };
      return /safetensors$/.test(name) ? { ...entry, lfs: { oid: hash('sha256', bytes), size: bytes.length } } : entry;
    });
    return void json(entries);
  }
  const bytes = files[new RegExp(`^/owner/tiny/resolve/${commit}/(.+)$`).exec(request.url!)?.[1] ?? ''];
  if (!bytes) return void response.writeHead(404).end();
  const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  const partial = { 'Content-Range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` };
  response.writeHead(start > 0 ? 206 : 200, start > 0 ? partial : {}).end(bytes.subarray(start));
}

describe('a model that is named on the hub', () => {
  it('comes into the cache that Hugging Face’s tools share, with what is needed of it', async () => {
    const { place } = await fetchModel(model, options);
    expect(place).toBe(path.join(root, 'cache', 'models--owner--tiny', 'snapshots', commit));
    for (const name of ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'])
      expect((await readFile(path.join(place, name))).equals(repository[name])).toBe(true);
    expect(existsSync(path.join(place, 'README.md'))).toBe(false);
    expect(await readFile(path.join(root, 'cache/models--owner--tiny/refs/main'), 'utf8')).toBe(commit);
    expect(existsSync(path.join(root, 'cache/models--owner--tiny/blobs', hash('sha256', large)))).toBe(true);
  });

  it('is not fetched again, and without a network what is there is used', async () => {
    const { place } = await fetchModel(model, options);
    const before = fetchedFiles().length;
    expect((await fetchModel(model, options)).place).toBe(place);
    expect(fetchedFiles().length).toBe(before);
    await new Promise((resolve) => server.close(resolve).closeAllConnections());
    expect((await fetchModel(model, options)).place).toBe(place);
    expect(said.at(-1)).toMatch(/cannot be reached .*: 'owner\/tiny' is used as it was last fetched/);
    const offline = { ...options, environment: { ...options.environment, HF_HUB_OFFLINE: '1' } };
    expect((await fetchModel(model, offline)).place).toBe(place);
    expect(await fetchModel({ ...model, revision: commit }, options)).toEqual({ place, name: `owner/tiny@${commit}` });
    expect((await cachedModel(model, options.cache))?.place).toBe(place);
  });

  it('goes on where a broken download ended, and says how far it is', async () => {
    files['model.safetensors'] = Buffer.alloc(2 ** 21, 'large ');
    let broken = 0;
    interfere = (request, response) => {
      if (!request.url!.endsWith('model.safetensors') || broken++ > 0) return false;
      response.writeHead(200);
      response.write(files['model.safetensors']!.subarray(0, 1_000_000), () => response.destroy());
      return true;
    };
    const { place } = await fetchModel(model, options);
    expect((await readFile(path.join(place, 'model.safetensors'))).equals(files['model.safetensors'])).toBe(true);
    const ranges = requests.filter(({ url }) => url!.endsWith('model.safetensors')).map(({ headers }) => headers.range);
    expect(ranges.length).toBe(2);
    expect(ranges[1]).toMatch(/^bytes=[1-9]\d+-$/);
    expect(said.at(-1)).toBe('Fetching owner/tiny: model.safetensors 100 % of 2 MiB');
  });

  it('goes on where a killed process ended, and throws away what has another checksum', async () => {
    const { place } = await fetchModel(model, options);
    const blob = options.cache.blob(hash('sha256', large));
    await rm(path.join(place, 'model.safetensors'));
    await writeFile(`${blob}.incomplete`, large.subarray(0, 1000));
    await rm(blob);
    await fetchModel(model, options);
    expect(requests.at(-1)!.headers.range).toBe('bytes=1000-');
    await rm(path.join(place, 'model.safetensors'));
    await rm(blob);
    await writeFile(`${blob}.incomplete`, Buffer.alloc(1000, 'x'));
    await fetchModel(model, options);
    expect((await readFile(path.join(place, 'model.safetensors'))).equals(large)).toBe(true);
    expect(existsSync(`${blob}.incomplete`)).toBe(false);
  });

  it('is whole when several fetch it at once', async () => {
    const places = await Promise.all(Array.from({ length: 5 }, () => fetchModel(model, options)));
    for (const { place } of places)
      expect((await readFile(path.join(place, 'model.safetensors'))).equals(large)).toBe(true);
  });

  it('is refused where the bytes do not have the checksum', async () => {
    interfere = (request, response) => {
      if (!request.url!.endsWith('model.safetensors')) return false;
      response.end(Buffer.alloc(large.length, 'evil'));
      return true;
    };
    await refused(/does not have the checksum/);
    expect(existsSync(options.cache.blob(hash('sha256', large)))).toBe(false);
    expect(await cachedModel(model, options.cache)).toBeNull();
  });

  it('comes with all shards that its index names, none of them from elsewhere', async () => {
    const [first, second] = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'];
    const map = { weight_map: { a: first, b: second, c: '../../evil.safetensors' } };
    files = { ...files, [first]: Buffer.from('1'), [second]: Buffer.from('22') };
    files['model.safetensors.index.json'] = Buffer.from(JSON.stringify(map));
    delete files['model.safetensors'];
    const { place } = await fetchModel(model, options);
    expect((await stat(path.join(place, second))).size).toBe(2);
    expect(fetchedFiles().some((name) => name!.includes('evil'))).toBe(false);
    await rm(path.join(place, second));
    expect(await cachedModel(model, options.cache)).toBeNull();
  });

  it('is one GGUF file where that is named', async () => {
    const { place } = await fetchModel({ ...model, file: 'model.Q8_0.gguf' }, options);
    expect(await readFile(place, 'utf8')).toBe('GGUF');
    expect(fetchedFiles()).toEqual(['model.Q8_0.gguf']);
  });

  it('can be given up', async () => {
    const abort = new AbortController();
    interfere = (request) => {
      if (!request.url!.endsWith('model.safetensors')) return false;
      abort.abort();
      return true;
    };
    await expect(fetchModel(model, { ...options, signal: abort.signal })).rejects.toMatchObject({ kind: 'cancelled' });
  });

  it('is refused in one line that says what to do', async () => {
    const status = (code: number) => (interfere = (_, response) => (response.writeHead(code).end(), true));
    status(404);
    await refused(/does not know the model 'owner\/tiny' \(main\)\. Check the name/);
    status(401);
    await refused(/does not give the model .* set HF_TOKEN/);
    status(503);
    await refused(/answers 503 for the model/);
    interfere = () => false;
    delete files['tokenizer.json'];
    await refused(/on the hub has no tokenizer\.json/);
    files = { 'config.json': Buffer.from('{}'), ...files, 'tokenizer.json': Buffer.from('{}') };
    delete files['model.safetensors'];
    await refused(/has no model\.safetensors/);
    const offline = { ...options.environment, HF_HUB_OFFLINE: '1' };
    await expect(fetchModel(model, { ...options, environment: offline })).rejects.toThrow(/HF_HUB_OFFLINE is set/);
    const wrong = { ...options.environment, HF_ENDPOINT: 'file:///etc' };
    await expect(fetchModel(model, { ...options, environment: wrong })).rejects.toThrow(/is no web address/);
    await new Promise((resolve) => server.close(resolve).closeAllConnections());
    await refused(/^Cannot fetch 'owner\/tiny' from http.*ECONNREFUSED/);
  });

  async function refused(pattern: RegExp): Promise<void> {
    const failure: unknown = await fetchModel(model, options).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(WhetstoneError);
    expect((failure as WhetstoneError).line).toMatch(pattern);
  }
});

describe("the user's token", () => {
  it('goes to the hub of the environment, never to one that a setting names, nor to where files are kept', async () => {
    const elsewhere: IncomingMessage[] = [];
    const store = createServer((request, response) => {
      elsewhere.push(request);
      response.end(large);
    });
    await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
    interfere = (request, response) => {
      if (!request.url!.endsWith('model.safetensors')) return false;
      response.writeHead(302, { Location: `${address(store)}/large` }).end();
      return true;
    };
    await writeFile(path.join(root, 'token'), 'hf_secret\n');
    await fetchModel(model, options);
    expect(requests.every(({ headers }) => headers.authorization === 'Bearer hf_secret')).toBe(true);
    expect(elsewhere.map(({ headers }) => headers.authorization)).toEqual([undefined]);

    requests = [];
    const environment = { HF_TOKEN: 'hf_secret', HF_HOME: root };
    const cache = new HubCache(model.repo, path.join(root, 'other'));
    await fetchModel(model, { ...options, cache, environment, endpoint: address(server) });
    expect(requests.length).toBeGreaterThan(3);
    expect(requests.some(({ headers }) => headers.authorization)).toBe(false);
    await new Promise((resolve) => store.close(resolve).closeAllConnections());
  });
});

describe('a name on the hub', () => {
  it('is told from a path', () => {
    expect(parseHubModel('Qwen/Qwen2.5-0.5B-Instruct')).toEqual({
      repo: 'Qwen/Qwen2.5-0.5B-Instruct',
      revision: 'main',
      file: null,
    });
    expect(parseHubModel('a/b@v1.0')).toMatchObject({ revision: 'v1.0' });
    expect(parseHubModel('a/b:x.Q4_K.gguf')).toMatchObject({ repo: 'a/b', file: 'x.Q4_K.gguf' });
    for (const path of ['embedded', './a/b', '/a/b', 'a\\b', 'a/b/c', '../a', 'a/..', 'models/x.gguf', 'a/b:../x.gguf'])
      expect(parseHubModel(path), path).toBeNull();
    expect(modelPlace('a/b', root)).toBe('a/b');
    expect(modelPlace('./a/b', root)).toBe(path.join(root, 'a/b'));
    expect(modelPlace('embedded', root)).toBe('embedded');
    expect(modelPlace('x', root)).toBe(path.join(root, 'x'));
    mkdirSync(path.join(root, 'c/d'), { recursive: true });
    expect(modelPlace('c/d', root)).toBe(path.join(root, 'c/d'));
  });
});

import { HubApiError, listFiles, type ListFileEntry, modelInfo } from '@huggingface/hub';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { badInput, cancelled, infrastructure, WhetstoneError } from '../../../trajectory/errors.js';
import { say } from '../../../trajectory/said.js';
import { downloadBlob, reasonOf } from './downloadBlob.js';
import { cachedModel, type FetchedModel, HubCache, indexFile, isCommit, shardsOf, singleFile } from './hubCache.js';
import { type HubModel, hubModelName } from './modelName.js';

export interface HubOptions {
  /** The hub's address, where HF_ENDPOINT does not say it. */
  readonly endpoint?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** One line for a person. */
  readonly say?: (line: string) => void;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly cache?: HubCache;
  readonly stallMs?: number;
  readonly retryMs?: number;
}

const officialHub = 'https://huggingface.co';
const textFiles = /^(config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|generation_config)\.json$/;
const isTextFile = (name: string) => textFiles.test(name) || name === 'chat_template.jinja';
/** Progress is said at most this often, in milliseconds. */
const sayEvery = 3000;

/**
 * Brings a model from the hub into the cache and gives where it lies. What is there is not fetched again; where the hub
 * cannot be reached, or HF_HUB_OFFLINE is set, what is there is used. Throws one clear line.
 */
export async function fetchModel(model: HubModel, options: HubOptions = {}): Promise<FetchedModel> {
  const environment = options.environment ?? process.env;
  const cache = options.cache ?? new HubCache(model.repo);
  const cached = await cachedModel(model, cache);
  const offline = isSet(environment.HF_HUB_OFFLINE);
  // A commit never changes.
  if (cached !== null && (offline || isCommit(model.revision))) return cached;
  if (offline) {
    throw badInput(
      say`The model '${model.repo}' (${model.revision}) is not in the cache '${cache.root}', and HF_HUB_OFFLINE is set.`,
      'Unset HF_HUB_OFFLINE, or give a folder.',
    );
  }
  const hub = await hubOf(options, environment);
  const common = { hubUrl: hub.url, ...(hub.token ? { accessToken: hub.token } : {}), fetch: patientFetch(options) };
  const [name, revision] = [model.repo, model.revision];
  try {
    const { sha } = await modelInfo({ ...common, name, revision, additionalFields: ['sha'] });
    if (!isCommit(sha)) throw new Error('it names no commit');
    const files: ListFileEntry[] = [];
    for await (const file of listFiles({ ...common, repo: { type: 'model', name }, revision: sha })) files.push(file);
    const place = await fetchFiles(model, sha, files, cache, hub, options);
    await cache.remember(revision, sha);
    return { place, name: hubModelName({ ...model, revision: sha }) };
  } catch (error) {
    if (options.signal?.aborted) throw cancelled();
    if (error instanceof WhetstoneError) throw error;
    if (error instanceof HubApiError) throw refusal(model, hub, error);
    if (cached !== null) {
      options.say?.(`${hub.url} cannot be reached (${reasonOf(error)}): '${name}' is used as it was last fetched.`);
      return cached;
    }
    const remedy = say`Check the network, set HF_ENDPOINT to a mirror, or give a folder.`;
    throw infrastructure(say`Cannot fetch '${name}' from ${hub.url}: ${reasonOf(error)}.`, remedy, error);
  }
}

interface Hub {
  readonly url: string;
  readonly token: string | null;
}

async function fetchFiles(
  model: HubModel,
  commit: string,
  files: readonly ListFileEntry[],
  cache: HubCache,
  hub: Hub,
  options: HubOptions,
): Promise<string> {
  const byName = new Map(files.filter(({ type }) => type === 'file').map((file) => [file.path, file]));
  const fetchNamed = async (names: readonly string[]) => {
    const wanted = names.map((name) => {
      const file = byName.get(name);
      if (file === undefined) throw missing(model, name);
      return file;
    });
    for (const file of wanted) await fetchFile(model, commit, file, cache, hub, options);
  };
  const snapshot = cache.snapshot(commit);
  if (model.file !== null) {
    await fetchNamed([model.file]);
    return path.join(snapshot, model.file);
  }
  for (const name of ['config.json', 'tokenizer.json', 'tokenizer_config.json'])
    if (!byName.has(name)) throw missing(model, name);
  const single = byName.has(singleFile);
  if (!single && !byName.has(indexFile)) throw missing(model, singleFile);
  await fetchNamed([...byName.keys()].filter(isTextFile));
  if (single) await fetchNamed([singleFile]);
  else {
    await fetchNamed([indexFile]);
    await fetchNamed(shardsOf(await readFile(path.join(snapshot, indexFile), 'utf8')));
  }
  return snapshot;
}

async function fetchFile(
  model: HubModel,
  commit: string,
  file: ListFileEntry,
  cache: HubCache,
  hub: Hub,
  options: HubOptions,
): Promise<void> {
  const { path: name, lfs, oid = '' } = file;
  const checksum = lfs ? ({ kind: 'sha256', hex: lfs.oid } as const) : ({ kind: 'git', hex: oid } as const);
  // It becomes a file's name.
  if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(checksum.hex)) throw new Error(`it gives no checksum of ${name}`);
  const size = lfs?.size ?? file.size;
  const blob = cache.blob(checksum.hex);
  if (!existsSync(blob)) {
    const url = `${hub.url}/${model.repo}/resolve/${commit}/${encodeURIComponent(name)}`;
    const say = sayer(`Fetching ${model.repo}: ${name}`, size, options.say);
    const headers: Record<string, string> = hub.token === null ? {} : { Authorization: `Bearer ${hub.token}` };
    const { signal, stallMs = 30_000, retryMs = 1000 } = options;
    await downloadBlob({ url, size, checksum }, blob, { headers, signal, onBytes: say, stallMs, retryMs });
  }
  await cache.place(commit, name, checksum.hex);
}

/** Says how far a file is, now and then and at its end; small files in silence. */
function sayer(what: string, size: number, say: HubOptions['say']): (done: number) => void {
  let last = -Infinity;
  return (done) => {
    const now = performance.now();
    if (size < 1 << 20 || (now - last < sayEvery && done < size)) return;
    last = now;
    say?.(`${what} ${Math.floor((100 * done) / size)} % of ${(size / 2 ** 20).toFixed(0)} MiB`);
  };
}

/**
 * The hub's address and the user's token for it. The token goes to the hub that the user named in the environment, else to
 * Hugging Face's own: a setting may come with a repository, whose author is not to be given it.
 */
async function hubOf(options: HubOptions, environment: NonNullable<HubOptions['environment']>): Promise<Hub> {
  const own = environment.HF_ENDPOINT || officialHub;
  const chosen = environment.HF_ENDPOINT || options.endpoint || officialHub;
  if (!isWebAddress(chosen))
    throw badInput(
      say`The hub's address '${chosen}' is no web address.`,
      'Set HF_ENDPOINT to one, e.g. https://hf-mirror.com.',
    );
  const trusted = new URL(chosen).origin === new URL(own).origin;
  return { url: chosen.replace(/\/+$/, ''), token: trusted ? await userToken(environment) : null };
}

const isWebAddress = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** The token where Hugging Face's own tools look for it. The client takes only tokens of the hub's form. */
async function userToken(environment: NonNullable<HubOptions['environment']>): Promise<string | null> {
  const home =
    environment.HF_HOME ?? path.join(environment.XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'huggingface');
  const file = environment.HF_TOKEN_PATH ?? path.join(home, 'token');
  const token = environment.HF_TOKEN ?? (await readFile(file, 'utf8').catch(() => ''));
  return /^hf_\w+$/.test(token.trim()) ? token.trim() : null;
}

/** The client's own requests wait for ever. */
function patientFetch({ signal, stallMs = 30_000 }: HubOptions): typeof fetch {
  return (url, init) => {
    const limits = [AbortSignal.timeout(stallMs), ...(signal ? [signal] : [])];
    return fetch(url, { ...init, signal: AbortSignal.any(limits) });
  };
}

function refusal(model: HubModel, hub: Hub, { statusCode }: HubApiError): WhetstoneError {
  const what = say`the model '${model.repo}' (${model.revision})`;
  if (statusCode === 401 || statusCode === 403)
    return badInput(
      say`${hub.url} does not give ${what} to this user.`,
      'Check the name; for a gated or private model accept its terms on its page and set HF_TOKEN.',
    );
  if (statusCode === 404)
    return badInput(
      say`${hub.url} does not know ${what}.`,
      'Check the name and the revision; there is no folder of that name either.',
    );
  return infrastructure(say`${hub.url} answers ${statusCode} for ${what}.`, 'Try again later.');
}

function missing(model: HubModel, name: string): WhetstoneError {
  return badInput(
    say`The model '${model.repo}' on the hub has no ${name}.`,
    'Choose one with safetensors and a tokenizer.json, or name a GGUF file: owner/name:file.gguf.',
  );
}

const isSet = (value: string | undefined): boolean => /^(1|true|yes|on)$/i.test(value ?? '');

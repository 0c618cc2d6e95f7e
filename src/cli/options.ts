import { InvalidArgumentError, Option, type Command } from 'commander';
import path from 'node:path';
import { findRepositoryRoot } from '../env/repo/findRepository.js';
import { sandboxChoices, sandboxChoiceSchema } from '../env/sandbox/sandboxChoice.js';
import { providers } from '../trainer/graph/provider.js';
import { modelPlace } from '../trainer/model/hub/modelName.js';
import type { Settings } from '../trainer/run/settings.js';

/** `--repo PATH`, on every command that reads runs or tasks. */
export const repoOption = () =>
  new Option('--repo <path>', 'the repository').argParser(filled).default('.', 'the current folder');
export const modelOption = () =>
  new Option(
    '--model <model>',
    'the policy: `embedded`, a folder in Hugging Face layout, a GGUF file, or a name on the hub (owner/name[@revision])',
  ).argParser(filled);
export const deviceOption = () =>
  new Option('--device <device>', 'where the policy computes').choices(['auto', ...providers]);
export const seedOption = () =>
  new Option('--seed <n>', 'everything random is derived from this').argParser(wholeNumber);
export const workersOption = () =>
  new Option(
    '--workers <urls>',
    'servers (`whetstone serve --openenv`) that play the environment, with commas between; WHETSTONE_TOKEN is shown to them',
  ).argParser((text) => text.split(',').map((url) => filled(url.trim())));
export const jsonOption = () => new Option('--json', 'print one JSON document and nothing else');
export const sandboxOption = () =>
  new Option(
    '--sandbox <kind>',
    `what confines the repository's commands (${sandboxChoices}); unconfined is for code that you trust`,
  ).argParser((value) => {
    const choice = sandboxChoiceSchema.safeParse(value);
    if (choice.success) return choice.data;
    throw new InvalidArgumentError(`Choose one of ${sandboxChoices}.`);
  });

export interface RepoOptions {
  readonly repo: string;
  readonly json?: boolean;
}
export interface SandboxOptions extends RepoOptions {
  readonly sandbox?: Settings['sandbox'];
}

/** The repository's root and its `.whetstone/` folder, without opening or writing anything. */
export async function locateState(options: RepoOptions): Promise<{ repoRoot: string; stateFolder: string }> {
  const repoRoot = await findRepositoryRoot(options.repo);
  return { repoRoot, stateFolder: path.join(repoRoot, '.whetstone') };
}

/** What `--model` names, from the current folder on; undefined where it was not given. */
export function modelPath(model: string | undefined): string | undefined {
  return model === undefined ? model : modelPlace(model, process.cwd());
}

/** An empty path would mean the current folder, where a shell's variable was not set. */
export function filled(text: string): string {
  if (text === '') throw new InvalidArgumentError('It is empty.');
  return text;
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

export function countFromOne(text: string): number {
  if (wholeNumber(text) === 0) throw new InvalidArgumentError('It must be at least 1.');
  return Number(text);
}

export function decimalNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('It must be a number of at least 0.');
  return value;
}

/** A setting's description as options are described: no capital, no full stop. */
export const phrase = ({ description = '' }: { readonly description?: string }) =>
  description.slice(0, 1).toLowerCase() + description.slice(1, -1);

export type AddCommand = (program: Command) => void;

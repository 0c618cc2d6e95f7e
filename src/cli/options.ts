import { InvalidArgumentError, Option, type Command } from 'commander';
import path from 'node:path';
import { findRepositoryRoot } from '../env/repo/findRepository.js';

/** `--repo PATH`, on every command that reads runs or tasks. */
export const repoOption = () =>
  new Option('--repo <path>', 'the repository (default: the current folder)').default('.', 'the current folder');
export const jsonOption = () => new Option('--json', 'print one JSON document and nothing else');
export const sandboxOption = () =>
  new Option(
    '--sandbox <kind>',
    "what confines the repository's commands; unconfined is for code that you trust",
  ).choices(['auto', 'bubblewrap', 'unconfined']);

export interface RepoOptions {
  readonly repo: string;
  readonly json?: boolean;
}

/** The repository's root and its `.whetstone/` folder, without opening or writing anything. */
export async function locateState(options: RepoOptions): Promise<{ repoRoot: string; stateFolder: string }> {
  const repoRoot = await findRepositoryRoot(options.repo);
  return { repoRoot, stateFolder: path.join(repoRoot, '.whetstone') };
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

export function decimalNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('It must be a number of at least 0.');
  return value;
}

export type AddCommand = (program: Command) => void;

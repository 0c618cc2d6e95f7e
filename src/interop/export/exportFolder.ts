import { mkdir, open, readdir, rename, rm, writeFile, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { explainFileError } from '../../env/repo/git.js';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';

/**
 * Fills a new folder, which appears whole or not at all. Throws bad-input where something lies there already or where it
 * can not be written.
 */
export async function writeFolder<T>(target: string, fill: (draft: string) => Promise<T>): Promise<T> {
  const existing = await readdir(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw badInput(
      say`${target} is no folder that can be read (${String(error.code)}).`,
      'Name another one with --out.',
      error,
    );
  });
  if (existing !== null && existing.length > 0) {
    throw badInput(say`${target} is not empty.`, 'Name a new folder with --out, or delete this one.');
  }
  const draft = `${target}.${process.pid}.tmp`;
  try {
    await mkdir(draft, { recursive: true });
    const result = await fill(draft);
    if (existing !== null) await rm(target, { recursive: true });
    await rename(draft, target);
    return result;
  } catch (error) {
    throw explainFileError(error, 'write', target);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Writes a text, with the folders that its path needs. */
export async function writeText(folder: string, name: string, text: string): Promise<void> {
  const file = path.join(folder, ...name.split('/'));
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text, { mode: name.endsWith('.sh') ? 0o755 : 0o644 });
}

/** A file of JSON lines while it is written. Nothing is made where no line comes. */
export class JsonLinesFile {
  private handle: FileHandle | null = null;

  constructor(private readonly file: string) {}

  async append(value: unknown): Promise<void> {
    this.handle ??= await open(this.file, 'w');
    await this.handle.appendFile(`${JSON.stringify(value)}\n`);
  }

  async close(): Promise<void> {
    await this.handle?.close();
  }
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { say } from '../trajectory/said.js';
import { runCli } from './cliProcess.js';
import { lineOf } from './lineOf.js';
import { useTranslations } from './translate.js';

describe('a command of the command line', () => {
  let folder: string;
  beforeAll(() => void (folder = mkdtempSync(path.join(tmpdir(), 'whetstone-cli-'))));
  afterAll(() => rmSync(folder, { recursive: true }));
  afterEach(() => useTranslations({}));

  /** Runs a program in place of the command line. */
  function run(program: string): { readonly said: string[]; readonly result: Promise<number> } {
    const cli = path.join(folder, 'cli.cjs');
    writeFileSync(cli, program);
    const said: string[] = [];
    const request = { cli, repoRoot: folder, args: ['eval'], onProgress: (line: string) => said.push(line) };
    return { said, result: runCli(request, z.number(), new AbortController().signal) };
  }
  const writes = (text: string) => `process.stderr.write(${JSON.stringify(text)});`;

  it('says its progress in the language of the editor, in whatever pieces it comes, and all else as it stands', async () => {
    useTranslations({ '{0} of {1} episodes': '{1} 个回合中的第 {0} 个' });
    const line = JSON.stringify(say`${2} of ${8} episodes`);
    const { said, result } = run(`
      if (process.env.WHETSTONE_PROGRESS === 'json') ${writes(line.slice(0, 9))}
      setTimeout(() => { ${writes(`${line.slice(9)}\nFetching a model\n`)} console.log(7); }, 50);
    `);
    expect(await result).toBe(7);
    expect(said).toEqual(['8 个回合中的第 2 个', 'Fetching a model']);
  });

  it('that fails is told by its error, not by its last progress', async () => {
    const { result } = run(
      `${writes(`whetstone: There is no task.\n${JSON.stringify(say`Stopped.`)}\n`)} process.exitCode = 2;`,
    );
    await expect(result).rejects.toThrow('There is no task.');
  });

  it('that fails is told in the language of the editor where its error says how, and in English in the log', async () => {
    useTranslations({ 'There is no task {0}.': '没有任务 {0}。' });
    const error = JSON.stringify({ error: say`There is no task ${'a'}.` });
    const { said, result } = run(`${writes(`${error}\n`)} process.exitCode = 2;`);
    const failure = await result.catch((reason: unknown) => reason);
    expect(lineOf(failure)).toBe('没有任务 a。');
    expect(failure).toMatchObject({ kind: 'failed', message: 'There is no task a.' });
    expect(said).toEqual(['没有任务 a。']);
  });

  it('that ends in a line without an end is told by it', async () => {
    const { result } = run(`${writes('first\nwhetstone: The disk is full.')} process.exitCode = 1;`);
    await expect(result).rejects.toThrow(/^The disk is full\.$/);
  });
});

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { runCli } from '../src/extension/cliProcess.js';
import { lineOf } from '../src/extension/lineOf.js';
import { LineProcess } from '../src/extension/lineProcess.js';
import { useTranslations } from '../src/extension/translate.js';
import { startTraining } from '../src/trainer/background/client.js';
import { loadSettings } from '../src/trainer/run/settings.js';
import { bundle, makeRepository } from './cli/runCli.js';

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
const never = new AbortController().signal;

describe('an error that another process tells the editor is in the language of the editor, and English in the log', () => {
  beforeAll(() => useTranslations(readJson('l10n/bundle.l10n.zh-cn.json')));
  afterAll(() => useTranslations({}));

  const failureOf = (work: Promise<unknown>): Promise<Error> =>
    work.then(
      () => Promise.reject(new Error('It did not fail.')),
      (error: unknown) => error as Error,
    );

  it('of a command of the command line', async () => {
    const repoRoot = await makeRepository({ 'a.js': '' });
    const args = ['tasks', 'list', '--json', '--repo', repoRoot];
    const failure = await failureOf(runCli({ cli: bundle, repoRoot, args }, z.unknown().refine(Boolean), never));
    expect(lineOf(failure)).toBe('还没有为此仓库构建任务。请用 `whetstone tasks build` 构建任务。');
    expect(failure.message).toContain('No tasks have been built for this repository. Build the tasks with');
  });

  it('of a setting of the repository, with what the setting means', async () => {
    const repoRoot = await makeRepository({ 'whetstone.config.json': '{ "steps": -1 }' });
    const args = ['train', '--repo', repoRoot];
    const failure = await failureOf(runCli({ cli: bundle, repoRoot, args }, z.unknown().refine(Boolean), never));
    expect(lineOf(failure)).toBe(
      'whetstone.config.json: 设置 `steps`：太小：number 应为 >=0。请给出另一个值。训练步数；0 表示只评估。',
    );
  });

  it('of a command that answers requests and did not come to', async () => {
    const repoRoot = await makeRepository({ 'a.js': '' });
    const args = ['demonstrate', '--task', 'none', '--repo', repoRoot];
    const process = new LineProcess({ cli: bundle, repoRoot, args, name: 'The episode' });
    expect(lineOf(await failureOf(process.ask('open')))).toBe(
      '还没有为此仓库构建任务。请用 `whetstone tasks build` 构建任务。',
    );
    await process.close();
  });

  it('of a background process that refuses to train', async () => {
    const repoRoot = await makeRepository({ 'a.js': '' });
    const settings = await loadSettings(repoRoot);
    const backgroundPath = fileURLToPath(new URL('../dist/background.cjs', import.meta.url));
    const failure = await failureOf(startTraining({ repoRoot, settings, owner: 'attached', backgroundPath }));
    expect(lineOf(failure)).toMatch(
      /^没有找到适用于 .* 和 gradle 的测试。请为其中之一添加测试，或在 whetstone\.config\.json 的 `runners` 中写明您的命令。$/,
    );
    expect(failure).toMatchObject({ kind: 'bad-input' });
  });
});

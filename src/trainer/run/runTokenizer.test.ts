import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { trainByteLevelBpe } from '../text/bpe/trainByteLevelBpe.js';
import { chatTokens, writeTokenizerFiles } from '../text/bpe/writeTokenizerFiles.js';
import { createRun } from './createRun.js';
import type { RunPaths } from './runDirectory.js';
import { openRun } from './runReader.js';
import { loadRunTokenizer } from './runTokenizer.js';
import { settingsSchema } from './settings.js';

let root: string;
let paths: RunPaths;
beforeEach(() => (root = mkdtempSync(path.join(os.tmpdir(), "tokenizer 'é "))));
afterEach(() => rmSync(root, { recursive: true }));

const tokenizer = trainByteLevelBpe(['the tests fail'], { vocabularySize: 300, specialTokens: chatTokens });
/** The single bytes come behind the special tokens. */
const letterA = chatTokens.length + 65;

async function runWith(model: string) {
  const config = { version: 1, runId: 'r1', createdAt: '', repoRoot: root, headCommit: '', sandbox: 'none' } as const;
  const settings = settingsSchema.parse({ model });
  paths = await createRun(root, { ...config, settings, taskIds: { train: [], heldout: [] } });
  return openRun(root, 'r1');
}
const missing = () => {
  throw new Error('the embedded policy is missing');
};

describe('the tokenizer of a run', () => {
  it('is that of its checkpoint, and the embedded policy is not even looked for', async () => {
    const run = await runWith('embedded');
    await writeTokenizerFiles(path.join(paths.checkpoints, 'step-000001'), tokenizer);
    mkdirSync(path.join(paths.checkpoints, 'step-000002'));
    expect((await loadRunTokenizer(run, missing)).decode([letterA])).toBe('A');
  });

  it('is that of its model where there is no checkpoint', async () => {
    const model = path.join(root, 'model');
    await writeTokenizerFiles(model, tokenizer);
    expect((await loadRunTokenizer(await runWith(model), missing)).decode([letterA])).toBe('A');
    rmSync(model, { recursive: true });
    await expect(loadRunTokenizer(openRun(root, 'r1'), missing)).rejects.toMatchObject({
      kind: 'bad-input',
      message: expect.stringMatching(/The tokenizer of run r1 is gone/) as string,
    });
  });

  it('is that in a GGUF file where that is the model', async () => {
    const file = path.join(import.meta.dirname, '../../../test-fixtures/golden/gguf/llama.gguf');
    expect((await loadRunTokenizer(await runWith(file), missing)).decode([26])).toBe('A');
  });

  it('is the embedded policy’s where that is the model', async () => {
    const run = await runWith('embedded');
    await expect(loadRunTokenizer(run, missing)).rejects.toThrow('the embedded policy is missing');
    await writeTokenizerFiles(path.join(root, 'embedded'), tokenizer);
    expect((await loadRunTokenizer(run, () => path.join(root, 'embedded'))).decode([letterA])).toBe('A');
  });
});

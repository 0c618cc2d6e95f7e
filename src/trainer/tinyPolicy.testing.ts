import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { saveCheckpoint } from './model/checkpoint.js';
import { initializeParameters, type LlamaConfig } from './model/llamaConfig.js';
import { trainByteLevelBpe } from './text/bpe/trainByteLevelBpe.js';
import { chatTokens, writeTokenizerFiles } from './text/bpe/writeTokenizerFiles.js';

const corpus = [
  'You fix bugs in a repository. Change the source so that the failing tests pass; changes to tests do not count.\n',
  '<tool_call>\n{"name": "submit", "arguments": {}}\n</tool_call>',
  '<tool_response>\nexpected 3, got 2 at src/add.js:1\n</tool_response>',
];

/** The shape of a policy that answers at once. */
export const tinyConfig: LlamaConfig = {
  vocabularySize: 384,
  hiddenSize: 32,
  intermediateSize: 48,
  layers: 2,
  heads: 4,
  keyValueHeads: 2,
  headDim: 8,
  ropeTheta: 10_000,
  rmsEpsilon: 1e-5,
  tieEmbeddings: true,
  maxPositions: 4096,
};

/** Writes a tiny random policy in Hugging Face layout, with a tokenizer trained on a few sentences, and returns its folder. */
export async function writeTinyPolicy(root: string, seed = 1): Promise<string> {
  const folder = path.join(root, 'tiny policy');
  const text = path.join(root, 'tiny text');
  await mkdir(folder, { recursive: true });
  const tokenizer = trainByteLevelBpe(
    corpus.map((line) => line.repeat(5)),
    { vocabularySize: tinyConfig.vocabularySize, specialTokens: chatTokens },
  );
  await writeTokenizerFiles(text, tokenizer);
  await saveCheckpoint(folder, {
    config: tinyConfig,
    parameters: initializeParameters(tinyConfig, seed),
    sourceFolder: text,
  });
  return folder;
}

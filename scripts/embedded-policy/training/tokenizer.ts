import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { HuggingFaceCodec } from '../../../src/trainer/text/huggingFaceCodec.js';
import { trainByteLevelBpe } from '../../../src/trainer/text/bpe/trainByteLevelBpe.js';
import { chatTokens, writeTokenizerFiles } from '../../../src/trainer/text/bpe/writeTokenizerFiles.js';
import { embeddedTemplate } from '../../../src/trainer/text/embeddedTemplate.js';
import { readFile } from 'node:fs/promises';
import type { CorpusFile } from '../corpus/permissive.js';
import type { ExpertEpisode } from '../episodes/episode.js';

export const VOCABULARY = 2048;

/** Trains the tokenizer on episodes and code, and writes its files into `folder`; does nothing where they exist. */
export async function makeTokenizer(
  folder: string,
  episodes: readonly ExpertEpisode[],
  corpus: readonly CorpusFile[],
): Promise<void> {
  if (existsSync(join(folder, 'tokenizer.json'))) return;
  const texts = [
    ...episodes.flatMap(({ system, user, turns }) => [
      system,
      user,
      ...turns.flatMap(({ raw, observations }) => [raw, ...observations.map(({ content }) => content)]),
    ]),
    ...corpus.map(({ text }) => text),
  ];
  await writeTokenizerFiles(
    folder,
    trainByteLevelBpe(texts, { vocabularySize: VOCABULARY, specialTokens: chatTokens }),
  );
}

export async function readCodec(folder: string): Promise<HuggingFaceCodec> {
  const json = async (name: string) =>
    JSON.parse(await readFile(join(folder, name), 'utf8')) as Record<string, unknown>;
  const generation = await json('generation_config.json');
  return new HuggingFaceCodec({
    tokenizer: await json('tokenizer.json'),
    tokenizerConfig: await json('tokenizer_config.json'),
    chatTemplate: embeddedTemplate,
    eosTokenIds: [Number(generation['eos_token_id'])],
    where: folder,
  });
}

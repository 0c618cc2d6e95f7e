import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { embeddedTemplate } from './embeddedTemplate.js';
import { HuggingFaceCodec } from './huggingFaceCodec.js';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

export const fixtureModels = ['qwen2.5', 'qwen3', 'qwen3-coder', 'llama3', 'smollm2', 'mistral', 'embedded'] as const;
export type FixtureModel = (typeof fixtureModels)[number];

const folderOf = (model: FixtureModel) =>
  model === 'embedded' ? path.join(root, 'media/embedded-policy') : path.join(root, 'test-fixtures/text', model);

/** Ids of a vocabulary: how many there may be, and those that stand for text. */
export function fixtureVocabulary(model: FixtureModel): { size: number; plain: number[] } {
  const file = readFileSync(path.join(folderOf(model), 'tokenizer.json'), 'utf8');
  const { model: words, added_tokens: added } = JSON.parse(file) as {
    model: { vocab: Record<string, number> };
    added_tokens: { id: number; special: boolean }[];
  };
  const control = new Set(added.filter(({ special }) => special).map(({ id }) => id));
  const ids = [...Object.values(words.vocab), ...added.map(({ id }) => id)];
  return { size: Math.max(...ids) + 1, plain: ids.filter((id) => !control.has(id)) };
}

/** The text side of a real model: its own template and control tokens, its vocabulary cut down. */
export function fixtureCodec(model: FixtureModel): HuggingFaceCodec {
  const folder = folderOf(model);
  const json = (name: string) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as Record<string, unknown>;
  const { eos_token_id: eos } = json('generation_config.json');
  return new HuggingFaceCodec({
    tokenizer: json('tokenizer.json'),
    tokenizerConfig: json('tokenizer_config.json'),
    chatTemplate:
      model === 'embedded' ? embeddedTemplate : readFileSync(path.join(folder, 'chat_template.jinja'), 'utf8'),
    eosTokenIds: ([] as number[]).concat(eos as number | number[]),
    where: model,
  });
}

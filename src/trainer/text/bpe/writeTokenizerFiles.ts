import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { embeddedTemplate } from '../embeddedTemplate.js';
import type { TokenizerJson } from './trainByteLevelBpe.js';

/** Special tokens of the embedded policy: padding, the start and the end of a message. */
export const chatTokens = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'] as const;

/**
 * Writes the text side of a checkpoint in Hugging Face layout: tokenizer.json, tokenizer_config.json with the embedded
 * chat template, special_tokens_map.json, generation_config.json. The tokenizer must hold `chatTokens`.
 */
export async function writeTokenizerFiles(folder: string, tokenizer: TokenizerJson): Promise<void> {
  const [pad, , end] = chatTokens;
  const idOf = (token: string) => {
    const id = tokenizer.model.vocab[token];
    if (id === undefined) throw new Error(`internal: the tokenizer has no token '${token}'`);
    return id;
  };
  const names = { eos_token: end, pad_token: pad };
  await mkdir(folder, { recursive: true });
  const write = (name: string, value: unknown) => writeFile(join(folder, name), JSON.stringify(value, null, 1) + '\n');
  await write('tokenizer.json', tokenizer);
  await write('tokenizer_config.json', {
    tokenizer_class: 'PreTrainedTokenizerFast',
    clean_up_tokenization_spaces: false,
    ...names,
    chat_template: embeddedTemplate,
  });
  await write('special_tokens_map.json', names);
  await write('generation_config.json', { eos_token_id: idOf(end), pad_token_id: idOf(pad) });
}

import type { ModelSource } from '../modelSource.js';
import { ggufConfigJson } from './ggufConfig.js';
import { GgufFile } from './ggufFile.js';
import { ggufTokenizerFiles } from './ggufTokenizer.js';
import { readGgufWeights, ropeDivisorsName } from './ggufWeights.js';

/** A GGUF file as a model: its metadata as the files of Hugging Face's layout, its weights dequantized when asked for. */
export async function openGgufSource(path: string): Promise<ModelSource> {
  const files = await GgufFile.with(path, async (file) => {
    const { contents } = file;
    const ropeDivisors = contents.tensors.has(ropeDivisorsName) ? await file.read(ropeDivisorsName) : null;
    return { 'config.json': ggufConfigJson(contents, ropeDivisors), ...ggufTokenizerFiles(contents) };
  });
  const bytes = Object.entries(files).map(
    ([name, json]) => [name, Buffer.from(JSON.stringify(json, null, 1))] as const,
  );
  return {
    path,
    files: new Map(bytes),
    readParameters: (config) => GgufFile.with(path, (file) => readGgufWeights(file, config)),
  };
}

import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { loadCheckpoint } from '../../src/trainer/model/checkpoint.js';
import { createGenerator } from '../../src/trainer/model/generator.js';

interface Reference {
  continuations: { prompt: string; promptIds: number[]; newIds: number[]; logprobs: number[]; text: string }[];
  texts: { text: string; ids: number[] }[];
}

/** Throws where anything differs from `smollm2_gguf.json`. */
export async function check(file: string, referenceFile: string): Promise<void> {
  const reference = JSON.parse(readFileSync(referenceFile, 'utf8')) as Reference;
  const started = Date.now();
  const { config, parameters, codec } = await loadCheckpoint(file);
  console.log(`loaded in ${((Date.now() - started) / 1000).toFixed(1)} s`);
  for (const { text, ids } of reference.texts) assert.deepEqual([...codec.encode(text)], ids, text);

  const common = { config, parameters, device: 'cpu', slots: 5, maxContext: 256 } as const;
  const generator = await createGenerator({ ...common, deterministic: false });
  const results = await Promise.all(
    reference.continuations.map(({ prompt, promptIds, newIds }, index) => {
      const nodes = codec.promptNodes([{ role: 'user', content: prompt }], []);
      assert.deepEqual(
        nodes.flatMap(({ tokenIds }) => [...tokenIds]),
        promptIds,
        prompt,
      );
      const greedy = { temperature: 1, topP: 1, topK: 1, seed: 1, maxNewTokens: newIds.length };
      const tokenIds = Int32Array.from(promptIds);
      return generator.generate({ ...greedy, tokenIds, sessionId: String(index), stopTokenIds: codec.stopTokenIds });
    }),
  );
  reference.continuations.forEach(({ prompt, newIds, logprobs, text }, index) => {
    assert.deepEqual([...results[index]!.tokenIds], newIds, prompt);
    logprobs.forEach((wanted, i) =>
      assert.ok(Math.abs(results[index]!.logprobs[i]! - wanted) < 1e-3, `${prompt} ${i}`),
    );
    console.log(`as transformers: ${JSON.stringify(prompt)} -> ${JSON.stringify(text)}`);
  });
  await generator.dispose();
}

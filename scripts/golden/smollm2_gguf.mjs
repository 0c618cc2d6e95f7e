// Holds our reading of SmolLM2-135M's GGUF file to transformers': tokenizer, prompts, greedy continuations and their
// log-probabilities; then trains an adapter on it for ten steps, which must lower its loss. How to get the file stands in
// smollm2_gguf.py, which made smollm2_gguf.json.
//     node scripts/golden/smollm2_gguf.mjs SmolLM2-135M-Instruct.Q4_1.gguf
import { build } from 'esbuild';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
await mkdir(path.join(root, '.cache'), { recursive: true });
// Inside of the project, where its packages are found.
const folder = await mkdtemp(path.join(root, '.cache', 'smollm2-'));
try {
  const outfile = path.join(folder, 'check.mjs');
  const entry = path.join(root, 'scripts/golden/smollm2_gguf.ts');
  await build({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', packages: 'external', outfile });
  const { check, learn } = await import(pathToFileURL(outfile).href);
  await check(process.argv[2], path.join(root, 'scripts/golden/smollm2_gguf.json'));
  await learn(path.resolve(process.argv[2]));
} finally {
  await rm(folder, { recursive: true });
}

// Plays an episode with llama.cpp's own server, which answers with the embedded policy from a GGUF file that we write, and
// keeps what it says: scripts/golden/llama_server.json, for src/trainer/policies/serverPlayer.test.ts. REPO has tasks
// (`whetstone tasks build`), the command line is built (`node esbuild.mjs`), and how to get PYTHON stands in llama_server.py.
//     node scripts/golden/llama_server.mjs PYTHON REPO TASK
import { build } from 'esbuild';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
await mkdir(path.join(root, '.cache'), { recursive: true });
// Inside of the project, where its packages are found.
const folder = await mkdtemp(path.join(root, '.cache', 'llama-server-'));
try {
  const outfile = path.join(folder, 'play.mjs');
  const entry = path.join(root, 'scripts/golden/llama_server.ts');
  await build({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', packages: 'external', outfile });
  const { play } = await import(pathToFileURL(outfile).href);
  const [python, repo, task] = process.argv.slice(2);
  await play({ python, repo: path.resolve(repo), task, root, folder });
} finally {
  await rm(folder, { recursive: true });
}

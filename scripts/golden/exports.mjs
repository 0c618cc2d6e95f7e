/** Writes the documents of `src/interop/export/golden/`. Give each to `check_exports.py` before it is committed. */
import { build } from 'esbuild';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = await mkdtemp(path.join(root, '.cache', 'exports-'));
try {
  const outfile = path.join(folder, 'documents.mjs');
  const entry = path.join(root, 'src/interop/export/documents.testing.ts');
  await build({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', packages: 'external', outfile });
  const { fixtureDocuments } = await import(pathToFileURL(outfile).href);
  for (const [name, document] of Object.entries(fixtureDocuments)) {
    const file = path.join(root, 'src/interop/export/golden', `${name}.json`);
    await writeFile(file, `${JSON.stringify(document, null, 2)}\n`);
    console.log(file);
  }
} finally {
  await rm(folder, { recursive: true });
}

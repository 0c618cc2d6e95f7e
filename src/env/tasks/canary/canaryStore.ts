import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { saidSchema } from '../../../trajectory/saidSchema.js';
import type { RepositoryEnvironment } from '../../environment.js';
import { explainFileError } from '../../repo/git.js';
import type { Reach } from './proveReach.js';

/** Changed whenever the same tree would be judged otherwise. */
const FORMAT = 2;

const schema = z.object({
  key: z.string(),
  reach: z.array(z.object({ folder: z.string(), reaches: z.boolean(), reason: saidSchema.nullable() })),
});

/** What was proven for this tree, sandbox and runners, or `prove()`, which is then kept for the next time. */
export async function provenReach(environment: RepositoryEnvironment, prove: () => Promise<Reach[]>): Promise<Reach[]> {
  const { baseTree, sandbox, suites, stateFolder } = environment;
  const facts = [FORMAT, baseTree, sandbox, suites.name, suites.parts.map(({ root }) => root)];
  const key = createHash('sha256').update(JSON.stringify(facts)).digest('hex');
  const file = join(stateFolder, 'cache', 'canary.json');
  const stored = await readFile(file, 'utf8')
    .then((text) => schema.parse(JSON.parse(text)))
    .catch(() => null);
  if (stored?.key === key) return stored.reach;
  const reach = await prove();
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(`${file}.${process.pid}.tmp`, `${JSON.stringify({ key, reach })}\n`);
    await rename(`${file}.${process.pid}.tmp`, file);
  } catch (error) {
    throw explainFileError(error, 'write', file);
  }
  return reach;
}

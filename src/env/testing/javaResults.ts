import path from 'node:path';
import { z } from 'zod';
import { failureText } from './failureMessage.js';
import { javaFailureMessage, withoutIdentity, type JavaSources } from './javaTests.js';
import { readProvenBeside } from './resultsProof.js';
import type { TestResult } from './testRunner.js';
import { withUniqueIds, type NamedResult } from './uniqueIds.js';

const record = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('test'),
    class: z.string(),
    path: z.array(z.string()),
    status: z.enum(['passed', 'failed', 'skipped']),
    error: z.string(),
    message: z.string(),
    stack: z.array(z.string()),
    /** The module's folder, absolute. */
    module: z.string(),
  }),
  /** A file whose module did not come to its tests: it, or one that it needs, does not compile. */
  z.object({ kind: z.literal('broken'), file: z.string(), message: z.string() }),
  z.object({ kind: z.literal('end') }),
]);

export interface JavaContext {
  readonly root: string;
  /** The tree's path as the build saw it. */
  readonly tree: string;
  readonly sources: JavaSources;
}

/** What Maven's spy or Gradle's script wrote; null where it is not proven (as `readProvenBeside`) or the build did not come to its end. */
export async function provenJavaResults(
  folder: string,
  name: string,
  key: string | undefined,
  context: JavaContext,
): Promise<TestResult[] | null> {
  const text = await readProvenBeside(folder, name, key);
  return text === null ? null : parseJavaResults(text, context);
}

/** Results from the lines; null where the last does not say that the build came to its end. */
function parseJavaResults(text: string, context: JavaContext): TestResult[] | null {
  const lines = text.split('\n').filter((line) => line !== '');
  const records: z.infer<typeof record>[] = [];
  for (const line of lines) {
    const parsed = parseLine(line);
    if (!parsed) return null;
    records.push(parsed);
  }
  if (records[records.length - 1]?.kind !== 'end') return null;
  return withUniqueIds(records.flatMap((found) => namedResult(found, context)));
}

function namedResult(found: z.infer<typeof record>, context: JavaContext): NamedResult[] {
  if (found.kind === 'end') return [];
  if (found.kind === 'broken') {
    const file = path.posix.join(context.root, found.file);
    const message = failureText(compilerWords(found.message, context.tree), [], { ...context, testFile: file });
    return [{ file, path: [], status: 'failed', message }];
  }
  const module = path.relative(context.tree, found.module).replaceAll('\\', '/') || '.';
  const file = context.sources.ofClass(found.class, module) ?? path.posix.join(module, found.class.replace(/\$.*/, ''));
  const message = found.status === 'failed' ? javaFailureMessage(found, { ...context, testFile: file, module }) : '';
  return [{ file, path: found.path.map(withoutIdentity), status: found.status, message }];
}

/** Of a broken build: the compiler's own lines, `/path/File.java:[3,5] …`, else the first line that says something. */
function compilerWords(message: string, tree: string): string[] {
  const lines = message.split(/\r?\n/).filter((line) => line.trim() !== '');
  const errors = lines.filter((line) => /\.(java|kt|groovy|scala):/.test(line));
  const shown = errors.length > 0 ? errors : lines.filter((line) => !/^Failed to execute goal|^null$/.test(line));
  // Maven writes [line,column], the compiler itself line: error.
  return [...new Set(shown.map((line) => line.trim().replaceAll(`${tree}/`, '')))]
    .map((line) => line.replace(/^(\S+?):\[(\d+),\d+\] /, '$1:$2: ').replace(/^(\S+:\d+): error: /, '$1: '))
    .slice(0, 4);
}

function parseLine(line: string) {
  try {
    return record.parse(JSON.parse(line));
  } catch {
    return null;
  }
}

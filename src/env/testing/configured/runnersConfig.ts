import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { badInput } from '../../../trajectory/errors.js';
import { say } from '../../../trajectory/said.js';
import { saidOfIssue } from '../../../trajectory/saidOfIssue.js';

/** The committed file, in the repository's root, whose key `runners` this reads. */
export const configName = 'whetstone.config.json';

/** An argument of the command that holds it stands for one argument a test file. */
export const filesPlaceholder = '{files}';
/** Where an argument holds this one, the command is run once a test file. */
export const filePlaceholder = '{file}';

/** Below the runner's root or, with `..`, beside it, but never outside of the repository. */
const relative = z
  .string()
  .min(1)
  .refine((name) => !/^([/\\]|[A-Za-z]:)/.test(name), { message: say`must be relative to \`root\``.message })
  .refine((name) => !name.includes('\\'), { message: say`must be written with \`/\``.message });

const runnerSchema = z
  .strictObject({
    name: z.string().trim().min(1).max(60).describe('What the runner is called in messages and results.'),
    command: z
      .array(z.string())
      .min(1)
      .refine(([program]) => program !== '', { message: say`its first word, the program, is empty`.message })
      .describe(
        'The command, a word an item; no shell reads it. A word with `{files}` in it is given once a test file. ' +
          'With `{file}` in a word, the command is run once a test file, which tells for sure which results belong to it.',
      ),
    root: relative.default('.').describe('Folder that the command is started in, relative to the repository.'),
    testFiles: z
      .array(relative)
      .min(1)
      .describe('Globs of the files that hold the tests, relative to `root`. The policy may not change them.'),
    configuration: z
      .array(relative)
      .default([])
      .describe('Globs of other files that the policy may not change, relative to `root`: settings, helpers of tests.'),
    results: z
      .strictObject({
        format: z.enum(['junit', 'tap']).describe('JUnit XML, or TAP 12 to 14.'),
        path: relative
          .optional()
          .describe(
            'Glob, relative to `root`, of the files that the command writes; they are deleted before it starts.',
          ),
        stdout: z.literal(true).optional().describe('The command writes them to its standard output.'),
      })
      .refine(({ path: file, stdout }) => (file === undefined) !== (stdout === undefined), {
        message: say`must say either \`path\` or \`stdout\``.message,
      })
      .describe('Where the results are, and in which format.'),
    selectTests: z
      .strictObject({
        joinedBy: z.string().describe('What stands between two files.'),
      })
      .optional()
      .describe('Where given, a word with `{files}` is one word that holds all test files.'),
    timeoutSeconds: z.number().positive().max(86_400).default(300).describe('After this time, one run of it is ended.'),
    env: z
      .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string())
      .default({})
      .describe('Variables added to its environment.'),
  })
  .refine(({ root }) => !escapes(root), { path: ['root'], message: say`must lie in the repository`.message })
  .refine(({ root, results }) => results.path === undefined || !escapes(path.posix.join(root, results.path)), {
    path: ['results', 'path'],
    message: say`must lie in the repository`.message,
  })
  .refine(({ command, selectTests }) => selectTests === undefined || command.some((word) => word.includes('{files}')), {
    path: ['selectTests'],
    message: say`needs a word with \`{files}\` in the command`.message,
  });

const escapes = (name: string) => path.posix.normalize(name).split('/')[0] === '..';

/** The key `runners` of `whetstone.config.json`. */
export const runnersSchema = z
  .array(runnerSchema)
  .refine((runners) => new Set(runners.map(({ name }) => name)).size === runners.length, {
    message: say`two runners have the same name`.message,
  })
  .describe('Commands that run tests and write JUnit XML or TAP, for tests that Whetstone does not find by itself.');

export type RunnerDefinition = z.infer<typeof runnerSchema>;

/**
 * The runners that the tree's configuration names; none where there is no file or no such key. Throws `badInput`, one line
 * that says what is wrong with which key.
 */
export async function readRunners(tree: string): Promise<readonly RunnerDefinition[]> {
  const text = await readFile(path.join(tree, configName), 'utf8').catch(() => '{}');
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch (error) {
    throw badInput(say`${configName} is not JSON.`, 'Mend its syntax.', error);
  }
  const found = z.looseObject({ runners: z.unknown() }).safeParse(config);
  return found.success && found.data.runners !== undefined ? parseRunners(found.data.runners) : [];
}

/** Checks the key's value. Throws `badInput` naming the key. */
export function parseRunners(value: unknown): readonly RunnerDefinition[] {
  const result = runnersSchema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const isUnknown = issue.code === 'unrecognized_keys';
  const place = [...issue.path, ...(isUnknown ? issue.keys.slice(0, 1) : [])];
  const key = place.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  const problem = isUnknown ? say`there is no such key` : saidOfIssue(issue);
  const keys = Object.keys(runnerSchema.shape).join(', ');
  throw badInput(
    say`${configName}: \`runners${key}\`: ${problem}.`,
    descriptionOf(place) || say`A runner has the keys ${keys}.`,
    result.error,
  );
}

/** What the key means that stands at this place. */
function descriptionOf([, key]: readonly PropertyKey[]): string {
  return Object.entries(runnerSchema.shape).find(([name]) => name === key)?.[1].description ?? '';
}

import { readFile } from 'node:fs/promises';
import { ratio } from '../../env/reward/ratio.js';
import { patchesSimilarity, similarityReason } from '../../env/reward/similarity.js';
import { FormatError } from '../../env/reward/unifiedPatch.js';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { jsonOption, type AddCommand } from '../options.js';
import { print, printable, printJson, table } from '../output.js';

interface SimilarityOptions {
  readonly pred: string;
  readonly oracle: string;
  readonly text?: boolean;
  readonly json?: boolean;
}

export const addSimilarityCommand: AddCommand = (program) => {
  program
    .command('similarity')
    .description('compare two patches as the reward does (SWE-RL), or two plain texts')
    .requiredOption('--pred <file>', 'the predicted patch')
    .requiredOption('--oracle <file>', 'the oracle patch')
    .option('--text', 'compare plain texts instead of unified diffs')
    .addOption(jsonOption())
    .action(similarity);
};

async function similarity(options: SimilarityOptions): Promise<void> {
  const [predicted, oracle] = [await readText(options.pred), await readText(options.oracle)];
  if (options.text) {
    const value = ratio(predicted, oracle);
    return options.json ? printJson({ ratio: value }) : print(String(value));
  }
  const result = compare(predicted, oracle, options.oracle);
  const reason = similarityReason(result);
  const components = { similarity: { score: result.reward, weight: 1, reason } };
  if (options.json) return printJson({ ...result, components });
  print(`reward ${result.reward} (${reason})`);
  if (result.files.length > 0)
    print(
      table(
        ['file', 'ratio', 'reason'],
        result.files.map(({ path, ratio, reason }) => [printable(path), ratio.toFixed(6), reason ?? '']),
      ),
    );
}

function compare(predicted: string, oracle: string, oraclePath: string) {
  try {
    return patchesSimilarity(predicted, oracle);
  } catch (error) {
    if (error instanceof FormatError)
      throw badInput(
        say`${oraclePath} is not a unified diff: ${error.message}`,
        'Give a patch as `git diff` prints it, or use --text.',
        error,
      );
    throw error;
  }
}

/** A file as text. Throws badInput where it can not be read or is not UTF-8. */
export async function readText(path: string): Promise<string> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    const reason = { ENOENT: 'does not exist', EISDIR: 'is a folder' }[error.code ?? ''];
    throw badInput(
      say`The file '${path}' ${reason ?? `cannot be read (${String(error.code)})`}.`,
      'Name a text file.',
      error,
    );
  });
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw badInput(say`${path} is not UTF-8 text.`, 'Give a text file.', error);
  }
}

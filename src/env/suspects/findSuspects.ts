import { setImmediate } from 'node:timers/promises';
import { cancelled } from '../../trajectory/errors.js';
import { isSourcePath, isWrittenByHand } from '../tasks/sourceFiles.js';
import { languageOf } from '../tasks/injection/parsing.js';
import { importsOf } from '../tasks/selection/importsOf.js';
import { ModuleResolver } from '../tasks/selection/moduleResolver.js';
import type { Task } from '../../trajectory/task.js';
import { fileFacts, longestText } from './fileFacts.js';
import { fileOf, rankSuspects, type Suspect } from './rankSuspects.js';

/** The tree that an episode begins with. */
export interface StartTree {
  /** Every file, by its path in the repository. */
  readonly paths: () => Promise<readonly string[]>;
  /** A file's text; null where it is no text. */
  readonly read: (path: string) => Promise<string | null>;
}

/** Following every import of a huge repository would keep others waiting, and so would parsing all of it. */
const mostFiles = 400;
const mostCharacters = 2_000_000;
/** Where a test loads nothing that is known, each source counts as so far away. */
const unknownSteps = 3;

const known = new WeakMap<Task, Promise<readonly Suspect[]>>();

/** The functions that the failing tests of a task may run, the likeliest first: the same ones in all of its episodes. */
export async function findSuspects(task: Task, tree: StartTree, signal?: AbortSignal): Promise<readonly Suspect[]> {
  for (let others = known.get(task); others !== undefined; others = known.get(task)) {
    // Another episode's search may end with that episode: then this one searches its own tree.
    const found = await others.catch(() => null);
    if (found !== null) return found;
  }
  const own = lookForSuspects(task, tree, signal);
  known.set(task, own);
  try {
    return await own;
  } catch (error) {
    known.delete(task);
    throw error;
  }
}

async function lookForSuspects(task: Task, tree: StartTree, signal?: AbortSignal): Promise<readonly Suspect[]> {
  const goOn = () => {
    if (signal?.aborted) throw cancelled();
  };
  const text = async (path: string) => {
    goOn();
    const content = (await tree.read(path)) ?? '';
    return content.length > longestText ? '' : content;
  };
  const sourceText = async (path: string) => {
    const content = await text(path);
    return isWrittenByHand(content) ? content : '';
  };
  const files = await tree.paths();
  const failingFiles = new Set(task.FAIL_TO_PASS.map(fileOf));
  const testFiles = task.whetstone.test_files.filter((file) => failingFiles.has(file));
  const from = (testFiles.length > 0 ? testFiles : task.whetstone.test_files).slice(0, mostFiles);
  const loaded = await loadedSources(files, from, text);
  const steps = loaded.size > 0 ? loaded : allSources(files);
  const tests = await textsOf(from, text);
  const sources = await textsOf([...steps.keys()], sourceText);
  for (const [path, content] of [...tests, ...sources]) {
    // The ranking finds these facts known; here, others get their turn between two files.
    fileFacts(path, content);
    await setImmediate();
    goOn();
  }
  return rankSuspects({
    sources: new Map([...sources].map(([path, content]) => [path, { text: content, steps: steps.get(path)! }])),
    tests,
    failing: task.FAIL_TO_PASS,
    statement: task.problem_statement,
  });
}

const allSources = (files: readonly string[]): ReadonlyMap<string, number> =>
  new Map(
    files
      .filter(isSourcePath)
      .slice(0, mostFiles)
      .map((path) => [path, unknownSteps]),
  );

/** The texts of files, of the first ones where they are too much. */
async function textsOf(
  paths: readonly string[],
  text: (path: string) => Promise<string>,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  let characters = 0;
  for (const path of paths) {
    const content = await text(path);
    characters += content.length;
    if (characters > mostCharacters) break;
    texts.set(path, content);
  }
  return texts;
}

/** The sources that test files load, themselves or through others, with the number of imports on the way. */
async function loadedSources(
  files: readonly string[],
  testFiles: readonly string[],
  text: (path: string) => Promise<string>,
): Promise<ReadonlyMap<string, number>> {
  const resolver = await ModuleResolver.of(files, text);
  const steps = new Map<string, number>();
  const seen = new Set(testFiles);
  const mostSeen = seen.size + mostFiles;
  let wave = [...testFiles];
  for (let step = 1; wave.length > 0; step += 1) {
    const next: string[] = [];
    for (const path of wave) {
      const language = languageOf(path);
      if (language === null) continue;
      const names = importsOf(await text(path), language);
      const loads = [
        ...resolver.alwaysLoaded(path, language),
        ...names.flatMap((name) => resolver.resolve(path, name, language)),
      ];
      for (const file of loads) {
        if (seen.has(file) || seen.size >= mostSeen) continue;
        seen.add(file);
        next.push(file);
        if (isSourcePath(file)) steps.set(file, step);
      }
    }
    wave = next;
  }
  return steps;
}

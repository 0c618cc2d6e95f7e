import path from 'node:path';
import { failureText, usefulFrames, type Frame } from './failureMessage.js';

/** Languages whose classes run on a JVM, by the files that Maven and Gradle find them in. */
export const jvmSource = /\.(java|kt|groovy|scala)$/;

/** Names that say of a class that it is a test: surefire's own choice, failsafe's, and Spock's. */
const testClass = /(^|\/)(Test[A-Z0-9][^/]*|[^/]*(Tests?|TestCase|IT|ITCase|Spec))\.(java|kt|groovy|scala)$/;
const testFolder =
  /(^|\/)src\/(\w*[tT]est\w*|it|testFixtures|functionalTest|integTest)\/|(^|\/)(tests?|__snapshots__)\//;
/**
 * What the frameworks, the compiler and the JVM load by its name from a class path: a service would run in the process of the
 * tests before they do, an annotation processor in the build's own. Also what builds leave, which a later one may take for its own work.
 */
const loadedByName =
  /(^|\/)(META-INF|mockito-extensions|target|build|out|\.gradle)\/|(^|\/)(junit-platform\.properties|testng[^/]*\.xml|lombok\.config|SpockConfig\.groovy|\.env[^/]*)$/;

/** Is this path a test, or something that is loaded without being asked for, whatever builds the project? */
export function isJavaTestPath(name: string): boolean {
  const isMain = /(^|\/)src\/main\//.test(name);
  return testFolder.test(name) || (!isMain && testClass.test(name)) || loadedByName.test(name);
}

/** Finds a class's file by its name. */
export class JavaSources {
  private readonly byName = new Map<string, string[]>();

  /** `files`: all of the tree, relative to it. */
  constructor(files: readonly string[]) {
    for (const file of files.filter((name) => jvmSource.test(name))) {
      const base = path.posix.basename(file);
      this.byName.set(base, [...(this.byName.get(base) ?? []), file]);
    }
  }

  /** The file of a class such as `demo.Clamp$Inner`, first of all one in `module` (a folder, `.` for the root). */
  ofClass(name: string, module: string): string | null {
    const outer = name.replace(/\$.*$/, '').replaceAll('.', '/');
    return this.find(
      ['java', 'kt', 'groovy', 'scala'].map((extension) => `${outer}.${extension}`),
      module,
    );
  }

  /** The place of a line of a stack: a class and the name of its file. */
  frame(className: string, fileName: string, line: number, module: string): Frame | null {
    if (line <= 0) return null;
    const folder = path.posix.dirname(className.replaceAll('.', '/'));
    const file = this.find([folder === '.' ? fileName : `${folder}/${fileName}`], module);
    return file === null ? null : { file, line };
  }

  private find(endings: readonly string[], module: string): string | null {
    for (const ending of endings) {
      const sameName = this.byName.get(path.posix.basename(ending)) ?? [];
      const found = sameName.filter((file) => file === ending || file.endsWith(`/${ending}`));
      const inModule = found.filter((file) => module === '.' || file.startsWith(`${module}/`));
      const all = inModule.length > 0 ? inModule : found;
      // Tests before sources: both may have a class of one name in one package only by mistake.
      const chosen = all.find((file) => isJavaTestPath(file)) ?? all[0];
      if (chosen !== undefined) return chosen;
    }
    return null;
  }
}

/** An exception as it was recorded. `stack` holds `class\tfile\tline`, innermost first, and `Caused by …` lines in between. */
export interface JavaError {
  readonly error: string;
  readonly message: string;
  readonly stack: readonly string[];
}

export function javaFailureMessage(
  { error, message, stack }: JavaError,
  context: { readonly tree: string; readonly testFile: string; readonly module: string; readonly sources: JavaSources },
): string {
  const name = error.replace(/^.*[.$]/, '');
  const lines = message.split(/\r?\n/).filter((line) => line.trim() !== '');
  // An assertion's own words say enough.
  const isAssertion = /^(AssertionError|AssertionFailedError|ComparisonFailure|MultipleFailuresError)$/.test(name);
  const first = isAssertion && lines.length > 0 ? lines[0] : [name, lines[0]].filter(Boolean).join(': ');
  const causes = stack.filter((line) => line.startsWith('Caused by ')).map((line) => line.split('\n')[0]);
  const lastCause = causes.slice(-1).map((line) => line.replace(/^Caused by (?:\w+[.$])*/, 'Caused by '));
  // What went wrong in the end stands in the last cause.
  const cause = stack.findLastIndex((line) => line.startsWith('Caused by '));
  const innermostFirst = [...stack.slice(cause + 1), ...stack.slice(0, Math.max(cause, 0))];
  const frames = innermostFirst.flatMap((line) => {
    const [className, file, number] = line.split('\t');
    const frame = number === undefined ? null : context.sources.frame(className, file, Number(number), context.module);
    return frame === null ? [] : [frame];
  });
  const words = [first, ...lines.slice(1, 3), ...lastCause].map(withoutIdentity);
  return failureText(words, usefulFrames(frames, context.testFile), context);
}

/** `demo.Point@1b2c3d`: an identity hash is another one in every run. */
export const withoutIdentity = (text: string) => text.replace(/(\w)@[0-9a-f]{5,8}\b/g, '$1@…');

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { jvmSource } from '../javaTests.js';
import { packageRoots } from '../packageRoots.js';

export interface GradleBuild {
  /** Relative to the tree, `.` for the root. */
  readonly root: string;
  /** Relative to the tree. */
  readonly testFiles: readonly string[];
  /** What the wrapper asks for, such as `gradle-8.5-bin`; null without a wrapper. */
  readonly distribution: string | null;
}

const settings = ['settings.gradle', 'settings.gradle.kts'];
const scripts = ['build.gradle', 'build.gradle.kts'];

/** Gradle takes every class for a test in which it finds one. */
const testMark =
  /@(?:[\w.]+\.)?(Test|ParameterizedTest|TestFactory|TestTemplate|RepeatedTest|Property|RunWith|Theory)\b|(?:\bextends|:)\s*(Specification|TestCase|\w+Spec)\b/;

/** The builds of a tree that have tests. `files`: all of the tree. */
export async function gradleBuilds(tree: string, files: readonly string[]): Promise<GradleBuild[]> {
  const has = (folder: string, names: readonly string[]) =>
    names.some((name) => files.includes(path.posix.join(folder, name)));
  const folders = packageRoots(files, [...settings, ...scripts]).filter((folder) =>
    has(folder, [...settings, ...scripts]),
  );
  const roots: string[] = [];
  for (const folder of folders) {
    const isProject = roots.some((root) => root === '.' || folder.startsWith(`${root}/`)) && !has(folder, settings);
    if (!isProject && path.posix.basename(folder) !== 'buildSrc') roots.push(folder);
  }
  const builds = await Promise.all(
    roots.map(async (root) => ({
      root,
      testFiles: await testFilesOf(tree, root, roots, files),
      distribution: await distributionOf(path.join(tree, root)),
    })),
  );
  return builds.filter(({ testFiles }) => testFiles.length > 0);
}

async function testFilesOf(
  tree: string,
  root: string,
  roots: readonly string[],
  files: readonly string[],
): Promise<string[]> {
  const isBelow = (file: string, folder: string) => folder === '.' || file.startsWith(`${folder}/`);
  const inner = roots.filter((other) => other !== root && isBelow(other, root));
  const candidates = files.filter(
    (file) =>
      isBelow(file, root) &&
      !inner.some((other) => isBelow(file, other)) &&
      /(^|\/)src\/test\/(java|kotlin|groovy|scala)\//.test(file) &&
      jvmSource.test(file),
  );
  const isTest = await Promise.all(
    candidates.map(async (file) => testMark.test(await readFile(path.join(tree, file), 'utf8').catch(() => ''))),
  );
  return candidates.filter((_, index) => isTest[index]);
}

async function distributionOf(folder: string): Promise<string | null> {
  const file = path.join(folder, 'gradle', 'wrapper', 'gradle-wrapper.properties');
  const text = await readFile(file, 'utf8').catch(() => '');
  return /^distributionUrl\s*=.*\/(gradle-[^/]+)\.zip\s*$/m.exec(text)?.[1] ?? null;
}

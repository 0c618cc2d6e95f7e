import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { globToRegExp } from '../glob.js';
import { jvmSource } from '../javaTests.js';
import { packageRoots } from '../packageRoots.js';

/** A build: the folder of its `pom.xml`, and of each of its modules (itself first), relative to the tree, `.` for the root. */
export interface MavenBuild {
  readonly root: string;
  readonly modules: readonly MavenModule[];
}

export interface MavenModule {
  readonly folder: string;
  /** Relative to the tree. */
  readonly testFiles: readonly string[];
}

interface Pom {
  readonly folder: string;
  readonly text: string;
}

const usualIncludes = ['**/Test*.java', '**/*Test.java', '**/*Tests.java', '**/*TestCase.java'];

/** The builds of a tree that have tests. `files`: all of the tree. Modules that only a profile adds are not among them. */
export async function mavenBuilds(tree: string, files: readonly string[]): Promise<MavenBuild[]> {
  const folders = packageRoots(files, ['pom.xml']).filter((folder) => files.includes(inside(folder, 'pom.xml')));
  const builds: MavenBuild[] = [];
  const known = new Set<string>();
  for (const root of folders) {
    if (known.has(root)) continue;
    const modules: MavenModule[] = [];
    const visit = async (folder: string, above: readonly Pom[]): Promise<void> => {
      if (known.has(folder) || !files.includes(inside(folder, 'pom.xml'))) return;
      known.add(folder);
      const pom = { folder, text: await pomText(path.join(tree, folder, 'pom.xml')) };
      const line = [pom, ...above];
      modules.push({ folder, testFiles: testFilesOf(line, files) });
      for (const module of modulesOf(pom)) await visit(module, line);
    };
    await visit(root, []);
    if (modules.some(({ testFiles }) => testFiles.length > 0)) builds.push({ root, modules });
  }
  return builds;
}

/** Without comments, and without what belongs to a profile only. */
async function pomText(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.replace(/<!--[\s\S]*?-->/g, '').replace(/<profiles>[\s\S]*?<\/profiles>/g, '');
}

function modulesOf({ folder, text }: Pom): string[] {
  const list = /<modules>([\s\S]*?)<\/modules>/.exec(text)?.[1] ?? '';
  return elements(list, 'module').map((name) => path.posix.join(folder, name.replace(/\/?pom\.xml$/, '')));
}

/** `line`: the module's own file and those above it. */
function testFilesOf(line: readonly Pom[], files: readonly string[]): string[] {
  const [{ folder }] = line;
  const own = elements(line[0].text, 'testSourceDirectory').map((name) =>
    name.replace(/^\$\{(project\.)?basedir\}\//, ''),
  );
  const roots = [...own, ...['java', 'kotlin', 'groovy', 'scala'].map((language) => `src/test/${language}`)];
  const configuration = line.map(({ text }) => surefireOf(text)).find((text) => /<(in|ex)clude>/.test(text)) ?? '';
  const includes = patternsOf(configuration, 'include');
  const excludes = patternsOf(configuration, 'exclude');
  const matchers = (includes.length > 0 ? includes : usualIncludes).map(matcherOf);
  const refusers = excludes.map(matcherOf);
  return files.filter((file) => {
    const root = roots.map((name) => inside(folder, name)).find((prefix) => file.startsWith(`${prefix}/`));
    if (root === undefined || !jvmSource.test(file)) return false;
    const name = file.slice(root.length + 1).replace(jvmSource, '.java');
    return matchers.some((matcher) => matcher.test(name)) && !refusers.some((matcher) => matcher.test(name));
  });
}

function surefireOf(text: string): string {
  const plugins = text.match(/<plugin>[\s\S]*?<\/plugin>/g) ?? [];
  return plugins.find((plugin) => /<artifactId>\s*maven-surefire-plugin\s*</.test(plugin)) ?? '';
}

/** Regular expressions and negations among surefire's patterns are left to surefire. */
function patternsOf(configuration: string, name: 'include' | 'exclude'): string[] {
  return elements(configuration, name)
    .flatMap((list) => list.split(','))
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== '' && !/^(%regex|%ant|!)|[$#]/.test(pattern));
}

function matcherOf(pattern: string): RegExp {
  const withFile = /\.(java|class|groovy|kt|\*)$/.test(pattern) ? pattern.replace(/\.[a-z*]+$/, '') : pattern;
  const anywhere = withFile.includes('/') ? withFile : `**/${withFile}`;
  return globToRegExp(`${anywhere}.java`);
}

const elements = (text: string, name: string) =>
  [...text.matchAll(new RegExp(`<${name}>\\s*([^<]*?)\\s*</${name}>`, 'g'))].map((match) => match[1]);

const inside = (folder: string, name: string) => (folder === '.' ? name : `${folder}/${name}`);

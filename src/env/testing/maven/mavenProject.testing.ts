/** For tests only: Maven projects, and what running them gives. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { writeFiles, type Files, type TemporaryFolders } from '../../fixtureRepository.testing.js';
import { findProgram } from '../../sandbox/toolchain.js';
import { keyName } from '../resultsProof.js';
import type { TestResult } from '../testRunner.js';
import { Maven } from './maven.js';

const run = promisify(execFile);

export const mvn = await findProgram('mvn', (process.env.PATH ?? '').split(path.delimiter));

export interface Versions {
  readonly surefire: string;
  readonly jupiter: string;
  readonly testng: string;
}
export const current: Versions = { surefire: '3.5.4', jupiter: '5.13.4', testng: '7.10.2' };
export const older: Versions = { surefire: '2.22.2', jupiter: '5.4.2', testng: '6.14.3' };

const project = (body: string) =>
  `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>${body}</project>\n`;

const build = ({ surefire }: Versions) => `
<properties>
  <maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target>
  <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
</properties>
<build><plugins>
  <plugin><artifactId>maven-surefire-plugin</artifactId><version>${surefire}</version></plugin>
</plugins></build>`;

export const dependency = (name: string, scope = 'test') => {
  const [group, artifact, version] = name.split(':');
  return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version><scope>${scope}</scope></dependency>`;
};

/** `pom.xml` of a project without modules. */
export const singlePom = (versions: Versions, dependencies: string) =>
  project(`<groupId>demo</groupId><artifactId>single</artifactId><version>1</version>
<dependencies>${dependencies}</dependencies>${build(versions)}`);

export const parentPom = (versions: Versions, modules: readonly string[]) =>
  project(`<groupId>demo</groupId><artifactId>parent</artifactId><version>1</version><packaging>pom</packaging>
<modules>${modules.map((name) => `<module>${name}</module>`).join('')}</modules>${build(versions)}`);

export const modulePom = (name: string, dependencies: string) =>
  project(`<parent><groupId>demo</groupId><artifactId>parent</artifactId><version>1</version></parent>
<artifactId>${name}</artifactId><dependencies>${dependencies}</dependencies>`);

export interface Ran {
  readonly results: readonly TestResult[] | null;
  readonly output: string;
}

/**
 * Runs files (all where none is named) as a workspace does, without a sandbox. What the user's cache of artifacts lacks is
 * downloaded first: only then does it need the network.
 */
export async function runMaven(
  temporary: TemporaryFolders,
  tree: string,
  options: { readonly files?: readonly string[] } = {},
): Promise<Ran> {
  const ran = await runOffline(temporary, tree, options);
  if (!/offline/.test(JSON.stringify(ran))) return ran;
  await run(mvn ?? 'mvn', ['-B', '-q', '-Dmaven.test.failure.ignore=true', 'test'], { cwd: tree, ...limits });
  return runOffline(temporary, tree, options);
}

const limits = { timeout: 300_000, maxBuffer: 1 << 26 };

async function runOffline(
  temporary: TemporaryFolders,
  tree: string,
  options: { readonly files?: readonly string[] },
): Promise<Ran> {
  const [detected] = await new Maven(mvn ?? 'mvn').detect(tree);
  const folder = await temporary.folder('results');
  const key = randomBytes(32).toString('hex');
  await writeFile(path.join(folder, keyName), key);
  const { argv, env } = detected.runner.command(detected, options.files ?? [], folder);
  const settings = { cwd: path.join(tree, detected.root), ...limits };
  const output = await run(argv[0], argv.slice(1), { ...settings, env: { ...process.env, ...env } }).then(
    ({ stdout, stderr }) => stdout + stderr,
    (error: unknown) => (error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error)),
  );
  return { results: await detected.runner.parse(folder, detected, tree, key), output };
}

export async function mavenTree(temporary: TemporaryFolders, files: Files): Promise<string> {
  const tree = await temporary.folder('a tree');
  await mkdir(tree, { recursive: true });
  await writeFiles(tree, files);
  return tree;
}

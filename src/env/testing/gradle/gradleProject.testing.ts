/** For tests only: what a Gradle build of today has at hand without a network. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { TemporaryFolders } from '../../fixtureRepository.testing.js';
import { dependency, mavenTree, modulePom, mvn, older, parentPom } from '../maven/mavenProject.testing.js';

const run = promisify(execFile);
const limits = { timeout: 280_000, maxBuffer: 1 << 26 };

/** Jars of JUnit 4 and TestNG, by Maven, since a Gradle as old as Debian's takes little from a repository of today. */
export async function classPath(temporary: TemporaryFolders): Promise<string> {
  const folder = await mavenTree(temporary, {
    'pom.xml': parentPom(older, ['jars']),
    'jars/pom.xml': modulePom(
      'jars',
      dependency('junit:junit:4.13.2') + dependency(`org.testng:testng:${older.testng}`),
    ),
  });
  const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath';
  const args = ['-B', '-q', '-pl', 'jars', plugin, '-Dmdep.outputFile=class-path'];
  await run(mvn ?? 'mvn', ['-o', ...args], { cwd: folder, ...limits }).catch(() =>
    run(mvn ?? 'mvn', args, { cwd: folder, ...limits }),
  );
  const jars = (await readFile(path.join(folder, 'jars', 'class-path'), 'utf8')).trim().split(path.delimiter);
  return jars.map((jar) => `'${jar}'`).join(', ');
}

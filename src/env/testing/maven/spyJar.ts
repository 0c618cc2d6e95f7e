import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { javaListeners, javaStubs, listenerServices } from './javaListener.js';
import { mavenSpy, spyIndex } from './mavenSpy.js';

const run = promisify(execFile);
const timeout = 300_000;
const made = new Map<string, Promise<string>>();

/**
 * The jar with our listeners and what watches Maven, in base64, compiled once in a process with the user's own compiler
 * (`javaHome`) against the user's own Maven (`mavenHome`), for Java 8 and newer. Throws where that cannot be done.
 */
export function spyJar(javaHome: string, mavenHome: string): Promise<string> {
  const name = `${javaHome}\n${mavenHome}`;
  const jar = made.get(name) ?? makeJar(javaHome, mavenHome);
  made.set(name, jar);
  // What failed for once, on a busy machine, is tried again.
  jar.catch(() => made.delete(name));
  return jar;
}

async function makeJar(javaHome: string, mavenHome: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'whetstone-java-'));
  try {
    const [known, classes] = [path.join(folder, 'known'), path.join(folder, 'classes')];
    await write(classes, { ...listenerServices, ...spyIndex });
    await mkdir(known);
    // Homebrew puts what Maven is one folder deeper.
    const libraries = ['lib', path.join('libexec', 'lib')].map((name) => path.join(mavenHome, name, '*'));
    const compile = async (sources: Readonly<Record<string, string>>, output: string, classPath: readonly string[]) => {
      const files = await write(path.join(folder, 'sources'), sources);
      const options = [
        '-source',
        '8',
        '-target',
        '8',
        '-nowarn',
        '-Xlint:-options',
        '-proc:none',
        '-encoding',
        'UTF-8',
      ];
      const args = [...options, '-cp', classPath.join(path.delimiter), '-d', output, ...files];
      await run(path.join(javaHome, 'bin', 'javac'), args, { timeout });
    };
    await compile(javaStubs, known, [known]);
    await compile({ ...javaListeners, ...mavenSpy }, classes, [known, ...libraries]);
    const jar = path.join(folder, 'whetstone.jar');
    await run(path.join(javaHome, 'bin', 'jar'), ['cf', jar, '-C', classes, '.'], { timeout });
    return (await readFile(jar)).toString('base64');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function write(folder: string, files: Readonly<Record<string, string>>): Promise<string[]> {
  const names = Object.keys(files).map((name) => path.join(folder, name));
  for (const [index, text] of Object.values(files).entries()) {
    await mkdir(path.dirname(names[index]), { recursive: true });
    await writeFile(names[index], text);
  }
  return names;
}

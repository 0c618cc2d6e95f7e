import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { Launcher } from '../sandbox/toolchain.js';
import { ConfiguredRunner } from './configured/configuredRunner.js';
import { programNames, runnerKinds, type Programs } from './runners.js';
import { TestSuites } from './testSuites.js';

/** How a command that writes JUnit XML or TAP is made known. */
const ownCommand = say`\`runners\` of whetstone.config.json`;

/** The runners that drive the tests of `tree`. Throws `badInput` where none does. */
export async function detectSuites(
  tree: string,
  programs: Programs,
  launcher: Launcher = { program: process.execPath, env: {} },
): Promise<TestSuites> {
  const found = runnerKinds.flatMap(({ program, create }) => {
    const executable = programs[program];
    return executable === null ? [] : [create(executable, launcher)];
  });
  // What the repository says itself comes before what is found.
  const runners = [new ConfiguredRunner(launcher), ...found];
  const detected = (await Promise.all(runners.map((runner) => runner.detect(tree)))).flat();
  const lacking = await lackingPrograms(tree, programs, launcher);
  if (detected.length > 0) {
    return new TestSuites(
      detected,
      runners,
      lacking.map(({ problem, remedy }) => `${problem.message} ${remedy.message}`),
    );
  }
  const names = runnerKinds.map(({ name }) => name);
  const driven = say`${names.slice(0, -1).join(', ')} and ${names[names.length - 1]}`;
  const other = await otherRunner(tree);
  if (other) {
    throw badInput(
      say`The tests run with ${other}, which Whetstone does not drive yet.`,
      say`It drives ${driven}, and what ${ownCommand} names.`,
    );
  }
  if (lacking.length > 0) throw badInput(lacking[0].problem, lacking[0].remedy);
  throw badInput(
    say`No tests were found for ${driven}.`,
    say`Add tests for one of them, or name your command in ${ownCommand}.`,
  );
}

/** Runners whose tests are there and whose program is not. */
async function lackingPrograms(tree: string, programs: Programs, launcher: Launcher) {
  const found = await Promise.all(
    runnerKinds
      .filter(({ program }) => programs[program] === null)
      .map(async (kind) => ((await kind.create(kind.program, launcher).detect(tree)).length > 0 ? [kind] : [])),
  );
  return found.flat().map(({ name, program, install }) => ({
    problem: say`The tests run with ${name}, and no ${programNames[program]} was found.`,
    remedy: install,
  }));
}

/** A runner that the scripts start and that no adapter drives, so that the message can name it. */
async function otherRunner(tree: string): Promise<string | null> {
  const manifest = await readFile(path.join(tree, 'package.json'), 'utf8').catch(() => '');
  const scripts = [...manifest.matchAll(/"(?:unit|test[^"]*)"\s*:\s*"((?:\\.|[^"\\])*)"/g)].map(([, script]) => script);
  const names = /\b(jest|vitest|mocha|ava|tape|tap|jasmine|karma|uvu|bun test|deno test)\b/;
  const isDriven = (name: string) => runnerKinds.some((kind) => kind.name === name);
  return scripts.map((script) => names.exec(script)?.[1]).find((name) => name !== undefined && !isDriven(name)) ?? null;
}

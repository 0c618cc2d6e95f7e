import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { badInput } from '../../trajectory/errors.js';
import { NodeTest } from './nodeTest.js';
import { Pytest } from './pytest.js';
import type { DetectedRunner, TestRunner } from './testRunner.js';

/** The first runner that drives the tests of `tree`. Throws `badInput` where none does. */
export async function detectRunner(
  tree: string,
  programs: { readonly node: string | null; readonly python: string | null },
): Promise<DetectedRunner> {
  const runners: TestRunner[] = [
    ...(programs.node ? [new NodeTest(programs.node)] : []),
    ...(programs.python ? [new Pytest(programs.python)] : []),
  ];
  for (const runner of runners) {
    const detected = await runner.detect(tree);
    if (detected) return detected;
  }
  const other = await otherRunner(tree);
  if (other)
    throw badInput(
      `The tests run with ${other}, which Whetstone does not drive yet.`,
      'It drives node:test and pytest.',
    );
  if (!programs.node && (await new NodeTest('node').detect(tree))) {
    throw badInput('The tests run with node:test, and no Node was found.', 'Put Node 20 or newer on PATH.');
  }
  if (!programs.python && (await new Pytest('python3').detect(tree))) {
    throw badInput('The tests run with pytest, and no Python was found.', 'Put Python 3 with pytest on PATH.');
  }
  throw badInput(
    'No tests were found: no file imports node:test, and no test_*.py or *_test.py is there.',
    'Add tests for node:test or pytest, and commit them.',
  );
}

/** A runner that the scripts start and that no adapter drives, so that the message can name it. */
async function otherRunner(tree: string): Promise<string | null> {
  const manifest = await readFile(path.join(tree, 'package.json'), 'utf8').catch(() => '');
  const scripts = [...manifest.matchAll(/"(?:unit|test[^"]*)"\s*:\s*"((?:\\.|[^"\\])*)"/g)].map(([, script]) => script);
  const names = /\b(jest|vitest|mocha|ava|tape|tap|jasmine|karma|uvu|bun test|deno test)\b/;
  return scripts.map((script) => names.exec(script)?.[1]).find((name) => name !== undefined) ?? null;
}

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { pythonWith } from '../python.testing.js';
import { fixtureDocuments } from './documents.testing.js';

const golden = (name: string) => path.resolve(`src/interop/export/golden/${name}.json`);
const packages = {
  swebench: 'swebench',
  swesmith: 'datasets',
  harbor: 'harbor',
  verifiers: 'verifiers',
  trl: 'trl',
  openai: 'openai',
  atif: 'harbor',
} as const;
type Format = keyof typeof packages;
const formats = Object.keys(packages) as Format[];

describe.each(formats)('the export for %s', (format) => {
  it('is what its neighbour took', async () => {
    const taken: unknown = JSON.parse(await readFile(golden(format), 'utf8'));
    expect(JSON.parse(JSON.stringify(fixtureDocuments[format]))).toEqual(taken);
  });

  const python = pythonWith(packages[format]);
  it.skipIf(python === null)(
    'is taken by its neighbour',
    async () => {
      const args = ['scripts/golden/check_exports.py', format, golden(format)];
      const { stdout } = await promisify(execFile)(python!, args);
      expect(JSON.parse(stdout)).toEqual(expected[format]);
    },
    300_000,
  );
});

/** What each neighbour's own code reads out of the document. */
const expected: Readonly<Record<Format, unknown>> = {
  swebench: {
    fail_to_pass: ['sum.test.js > sum > adds "1 + 2"'],
    prediction: ['instance_id', 'model_name_or_path', 'model_patch'],
  },
  swesmith: {
    fields: [
      ...['FAIL_TO_PASS', 'PASS_TO_PASS', 'base_commit', 'created_at', 'image_name'],
      ...['instance_id', 'patch', 'problem_statement', 'repo'],
    ],
  },
  harbor: {
    name: 'whetstone/raums__1f2e3d4c.comparison-flip-1',
    instruction: 'A test fails: sum > adds "1 + 2"',
    agent_seconds: 1200,
    verifier_seconds: 180,
  },
  verifiers: {
    task: 'raums__1f2e3d4c.comparison-flip-1',
    reward: 0.1,
    branches: [
      branch([10, 11, 12, 20, 21, 22, 23], [30, 5], [40, 4, false], [50, 2], [60, 3, false], [70, 3]),
      branch([10, 11, 12, 20, 21, 22, 23], [30, 5], [40, 4, false], [80, 2]),
    ],
  },
  trl: {
    roles: [
      ['system', 'user', 'assistant', 'tool', 'assistant', 'tool', 'assistant'],
      ['system', 'user', 'assistant', 'tool', 'assistant'],
    ],
  },
  openai: {
    roles: [
      ['system', 'user', 'assistant', 'tool', 'assistant', 'user', 'assistant'],
      ['system', 'user', 'assistant', 'tool', 'assistant'],
    ],
  },
  atif: {
    steps: [
      ['system', 'user', 'agent', 'agent', 'agent'],
      ['system', 'user', 'agent', 'agent'],
    ],
    observations: [[1, 1], [1]],
  },
};

/** A branch's tokens: the prompt, then spans of [first id, tokens, sampled]. */
function branch(prompt: number[], ...spans: (readonly [number, number, boolean?])[]) {
  const token_ids = [...prompt];
  const sampled = prompt.map(() => 0);
  const logprobs = prompt.map(() => 0);
  for (const [first, tokens, isSampled = true] of spans) {
    for (let index = 0; index < tokens; index++) {
      token_ids.push(first + index);
      sampled.push(isSampled ? 1 : 0);
      logprobs.push(isSampled ? -0.25 * (index + 1) : 0);
    }
  }
  return { token_ids, sampled, logprobs, advantages: sampled.map((bit) => 0.5 * bit) };
}

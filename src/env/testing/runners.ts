import { NodeTest } from './nodeTest.js';
import { Pytest } from './pytest.js';
import type { TestRunner } from './testRunner.js';

/** Paths of the programs that runners are started with (Python's may be relative to the tree); null where not found. */
export interface Programs {
  readonly node: string | null;
  readonly python: string | null;
}

/** A runner that Whetstone drives. */
export interface RunnerKind {
  readonly name: string;
  readonly program: keyof Programs;
  /** What to install where the program is missing. */
  readonly install: string;
  create(program: string): TestRunner;
}

/** Where two take a file for their test, the first gets it. */
export const runnerKinds: readonly RunnerKind[] = [
  {
    name: 'node:test',
    program: 'node',
    install: 'Put Node 20 or newer on PATH.',
    create: (node) => new NodeTest(node),
  },
  {
    name: 'pytest',
    program: 'python',
    install: 'Put Python 3 with pytest on PATH.',
    create: (python) => new Pytest(python),
  },
];

/** How a message calls a program. */
export const programNames: Readonly<Record<keyof Programs, string>> = { node: 'Node', python: 'Python' };

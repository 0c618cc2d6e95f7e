import { say, type Said } from '../../trajectory/said.js';
import type { Launcher } from '../sandbox/toolchain.js';
import { CargoTest } from './cargoTest/cargoTest.js';
import { GoTest } from './goTest/goTest.js';
import { Gradle } from './gradle/gradle.js';
import { Maven } from './maven/maven.js';
import { Jest } from './jest/jest.js';
import { Mocha } from './mocha/mocha.js';
import { NodeTest } from './nodeTest.js';
import { Pytest } from './pytest.js';
import type { TestRunner } from './testRunner.js';
import { Unittest } from './unittest/unittest.js';
import { Vitest } from './vitest/vitest.js';

/** Paths of the programs that runners are started with (Python's may be relative to the tree); null where not found. */
export interface Programs {
  readonly node: string | null;
  readonly python: string | null;
  readonly go: string | null;
  readonly cargo: string | null;
  readonly maven: string | null;
  readonly gradle: string | null;
}

/** A runner that Whetstone drives. */
export interface RunnerKind {
  readonly name: string;
  readonly program: keyof Programs;
  /** What to install where the program is missing. */
  readonly install: Said;
  /** `launcher` runs what an adapter starts its tool with, where the tool is no Node itself. */
  create(program: string, launcher: Launcher): TestRunner;
}

/** Where two take a file for their test, the first gets it. */
export const runnerKinds: readonly RunnerKind[] = [
  {
    name: 'node:test',
    program: 'node',
    install: say`Put Node 20 or newer on PATH.`,
    create: (node) => new NodeTest(node),
  },
  {
    name: 'jest',
    program: 'node',
    install: say`Put Node 20 or newer on PATH.`,
    create: (node) => new Jest(node),
  },
  {
    name: 'vitest',
    program: 'node',
    install: say`Put Node 20 or newer on PATH.`,
    create: (node) => new Vitest(node),
  },
  {
    name: 'mocha',
    program: 'node',
    install: say`Put Node 20 or newer on PATH.`,
    create: (node) => new Mocha(node),
  },
  // Before pytest, which takes any file of a test's name: it gives way where the repository uses pytest.
  {
    name: 'unittest',
    program: 'python',
    install: say`Put Python 3.8 or newer on PATH.`,
    create: (python) => new Unittest(python),
  },
  {
    name: 'pytest',
    program: 'python',
    install: say`Put Python 3 with pytest on PATH.`,
    create: (python) => new Pytest(python),
  },
  {
    name: 'go test',
    program: 'go',
    install: say`Put Go 1.21 or newer on PATH.`,
    create: (go, launcher) => new GoTest(go, launcher),
  },
  {
    name: 'cargo test',
    program: 'cargo',
    install: say`Put Cargo and rustc on PATH (rustup.rs).`,
    create: (cargo, launcher) => new CargoTest(cargo, launcher),
  },
  {
    name: 'maven',
    program: 'maven',
    install: say`Put Maven 3 and a JDK on PATH.`,
    create: (maven) => new Maven(maven),
  },
  {
    name: 'gradle',
    program: 'gradle',
    install: say`Run "./gradlew test" once in the repository, or put Gradle on PATH; it needs a JDK.`,
    create: (gradle) => new Gradle(gradle),
  },
];

/** How a message calls a program. */
export const programNames: Readonly<Record<keyof Programs, string>> = {
  node: 'Node',
  python: 'Python',
  go: 'Go',
  cargo: 'Cargo',
  maven: 'Maven',
  gradle: 'Gradle',
};

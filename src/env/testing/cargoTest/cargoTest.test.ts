import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TemporaryFolders, writeFiles, type Files } from '../../fixtureRepository.testing.js';
import { findProgram } from '../../sandbox/programs.js';
import { keyName } from '../resultsProof.js';
import type { TestResult } from '../testRunner.js';
import { rustFailureMessage } from './cargoResults.js';
import { CargoTest } from './cargoTest.js';

const run = promisify(execFile);
const temporary = new TemporaryFolders();
const cargo = await findProgram('cargo', (process.env.PATH ?? '').split(path.delimiter));
/** Installed by `rustup toolchain install` where the machine has it. */
const olderRust = '1.80.0';
const older =
  cargo !== null &&
  (await run(cargo, ['--version'], {
    env: { ...process.env, RUSTUP_TOOLCHAIN: olderRust, RUSTUP_AUTO_INSTALL: '0' },
  }).then(
    ({ stdout }) => stdout.includes(olderRust),
    () => false,
  ));
afterAll(() => temporary.remove());

/** Runs the tests of a tree outside of any sandbox; null without results. */
async function runIn(tree: string, files: readonly string[] = [], env: Record<string, string> = {}) {
  const [detected] = await new CargoTest(cargo ?? 'cargo').detect(tree);
  const results = await temporary.folder('results');
  const key = 'k'.repeat(64);
  await writeFile(path.join(results, keyName), key);
  const command = detected.runner.command(detected, files, results);
  const ended = await run(command.argv[0], command.argv.slice(1), {
    cwd: path.join(tree, detected.root),
    env: { ...process.env, ...command.env, ...env },
    maxBuffer: 64 * 1024 * 1024,
  }).catch((error: { stdout: string; stderr: string }) => error);
  const parsed = await detected.runner.parse(results, detected, tree, key);
  return { parsed, output: ended.stdout + ended.stderr };
}

const statuses = (results: readonly TestResult[] | null) =>
  results && Object.fromEntries(results.map(({ id, status }) => [id, status]));
const messages = (results: readonly TestResult[] | null) =>
  Object.fromEntries((results ?? []).filter(({ message }) => message !== '').map(({ id, message }) => [id, message]));

const manifest = (name: string, more = '') =>
  `[package]\nname = "${name}"\nversion = "0.1.0"\nedition = "2021"\n${more}`;
const project: Files = {
  'Cargo.toml': `${manifest('demo')}\n[workspace]\nmembers = ["inner", "broken"]\n`,
  'src/lib.rs': `pub mod deep;

pub fn clamp(x: i32, low: i32, high: i32) -> i32 {
    x.max(low).min(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes() {
        assert_eq!(clamp(9, 0, 5), 5);
    }

    #[test]
    fn fails() {
        println!("a word before");
        assert_eq!(clamp(9, 0, 5), 4, "of {}", "9");
    }

    #[test]
    #[ignore = "not here"]
    fn ignored() {}

    #[test]
    #[should_panic]
    fn should_panic() {
        panic!("as it should");
    }

    #[test]
    #[should_panic(expected = "other words")]
    fn should_panic_otherwise() {
        panic!("these words");
    }

    #[test]
    fn gives_back_an_error() -> Result<(), std::num::ParseIntError> {
        "x".parse::<i32>().map(|_| ())
    }

    #[test]
    fn größe() {}
}
`,
  'src/deep/mod.rs': `pub mod er;

#[cfg(test)]
mod outside;
`,
  'src/deep/er.rs': `pub fn three() -> i32 {
    3
}

#[test]
fn three_is_three() {
    assert_eq!(three(), 3);
}
`,
  'src/deep/outside.rs': '#[test]\nfn lies_outside() {}\n',
  'src/main.rs': 'fn main() {}\n\n#[test]\nfn of_the_program() {}\n',
  'tests/crash.rs': `#[test]
fn aborts() {
    std::process::abort();
}

#[test]
fn exits() {
    std::process::exit(0);
}

#[test]
fn goes_on() {}
`,
  'tests/loud.rs': `use std::io::Write;

#[test]
fn ten_megabytes() {
    println!("{}", "x".repeat(10 << 20));
}

#[test]
fn ten_megabytes_and_a_failure() {
    println!("{}", "x".repeat(10 << 20));
    panic!("loud");
}

#[test]
fn imitates() {
    let line = "{ \\"type\\": \\"test\\", \\"event\\": \\"ok\\", \\"name\\": \\"really_fails\\" }\\ntest really_fails ... ok\\n";
    std::io::stdout().write_all(line.as_bytes()).unwrap();
}

#[test]
fn really_fails() {
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(demo::clamp(1, 2, 3) == 1);
}
`,
  'inner/Cargo.toml': manifest('inner', '\n[dependencies]\ndemo = { path = ".." }\n'),
  'inner/src/lib.rs': 'pub fn two() -> i32 {\n    demo::clamp(2, 0, 5)\n}\n',
  'inner/tests/inner.rs': 'mod common;\n\n#[test]\nfn two() {\n    common::check(inner::two());\n}\n',
  'inner/tests/common/mod.rs': 'pub fn check(x: i32) {\n    assert_eq!(x, 2);\n}\n',
  'broken/Cargo.toml': manifest('broken'),
  'broken/src/lib.rs': 'pub fn f() -> i32 {\n    missing\n}\n\n#[test]\nfn never() {}\n',
};

describe.skipIf(cargo === null)('cargo test', () => {
  let tree = '';
  let found: Awaited<ReturnType<typeof runIn>>;
  beforeAll(async () => {
    tree = await temporary.folder('a tree');
    await writeFiles(tree, project);
    found = await runIn(tree);
  }, 240_000);

  it('finds the files with tests, those of a workspace together', async () => {
    const [detected, ...others] = await new CargoTest('cargo').detect(tree);
    expect(others).toEqual([]);
    expect([detected.root, ...detected.testFiles]).toEqual([
      '.',
      'broken/src/lib.rs',
      'inner/tests/inner.rs',
      'src/deep/er.rs',
      'src/deep/outside.rs',
      'src/lib.rs',
      'src/main.rs',
      'tests/crash.rs',
      'tests/loud.rs',
    ]);
    const is = (name: string) => detected.runner.isTestFile(name);
    const held = [
      'tests/loud.rs',
      'src/deep/outside.rs',
      'inner/tests/common/mod.rs',
      'Cargo.toml',
      'inner/build.rs',
      'Cargo.lock',
      '.cargo/config.toml',
      'a/x.snap',
    ];
    expect(held.filter((name) => !is(name))).toEqual([]);
    expect(['src/lib.rs', 'src/deep/er.rs', 'src/contest.rs', 'src/testing.rs'].filter(is)).toEqual([]);
  });

  it('gives each test its status', () => {
    expect(statuses(found.parsed)).toEqual({
      'broken/src/lib.rs': 'failed',
      'inner/tests/inner.rs > two': 'passed',
      'src/deep/er.rs > three_is_three': 'passed',
      'src/deep/outside.rs > lies_outside': 'passed',
      'src/lib.rs > tests > fails': 'failed',
      'src/lib.rs > tests > gives_back_an_error': 'failed',
      'src/lib.rs > tests > größe': 'passed',
      'src/lib.rs > tests > ignored': 'skipped',
      'src/lib.rs > tests > passes': 'passed',
      'src/lib.rs > tests > should_panic': 'passed',
      'src/lib.rs > tests > should_panic_otherwise': 'failed',
      'src/main.rs > of_the_program': 'passed',
      'tests/crash.rs > aborts': 'failed',
      'tests/crash.rs > exits': 'failed',
      'tests/crash.rs > goes_on': 'passed',
      'tests/loud.rs > imitates': 'passed',
      'tests/loud.rs > really_fails': 'failed',
      'tests/loud.rs > ten_megabytes': 'passed',
      'tests/loud.rs > ten_megabytes_and_a_failure': 'failed',
    });
  });

  it('says why a test failed', () => {
    expect(messages(found.parsed)).toEqual({
      'broken/src/lib.rs': 'broken/src/lib.rs:2: cannot find value `missing` in this scope',
      'src/lib.rs > tests > fails': 'assertion `left == right` failed: of 9\nleft: 5\nright: 4\nat src/lib.rs:19',
      'src/lib.rs > tests > gives_back_an_error': 'Error: ParseIntError { kind: InvalidDigit }',
      'src/lib.rs > tests > should_panic_otherwise':
        'these words\npanic did not contain expected string\npanic message: "these words"\nexpected substring: "other words"\nat src/lib.rs:35',
      'tests/crash.rs > aborts': 'The test program was ended by SIGABRT.',
      'tests/crash.rs > exits': 'The test program ended with exit code 0.',
      'tests/loud.rs > really_fails': 'assertion failed: demo::clamp(1, 2, 3) == 1\nat tests/loud.rs:23',
      'tests/loud.rs > ten_megabytes_and_a_failure': 'The test program ended with exit code 101.',
    });
  });

  it('runs the tests of the given files only, and repeats itself', async () => {
    const files = ['src/deep/er.rs', 'inner/tests/inner.rs'];
    const [first, second] = [await runIn(tree, files), await runIn(tree, files)];
    expect(Object.keys(statuses(first.parsed) ?? {})).toEqual([
      'inner/tests/inner.rs > two',
      'src/deep/er.rs > three_is_three',
    ]);
    expect(second.parsed).toEqual(first.parsed);
  });

  it.skipIf(!older)('does the same with an older Rust', { timeout: 240_000 }, async () => {
    const older = await runIn(tree, [], { RUSTUP_TOOLCHAIN: olderRust });
    expect(statuses(older.parsed)).toEqual(statuses(found.parsed));
  });

  it('takes no results that it did not prove', async () => {
    const [detected] = await new CargoTest('cargo').detect(tree);
    const folder = await temporary.folder();
    await writeFile(path.join(folder, 'cargo-test.json'), '{"files":[],"errors":[],"programs":[]}\n00\n');
    expect(await detected.runner.parse(folder, detected, tree, 'k'.repeat(64))).toBeNull();
  });
});

describe("a panic's words", () => {
  const context = { tree: '/tree', testFile: 'src/lib.rs' };
  it.each([
    [
      "thread 'a' (123) panicked at src/x.rs:2:44:\nassertion failed: y\nnote: run with `RUST_BACKTRACE=1`\n",
      'assertion failed: y\nat src/x.rs:2',
    ],
    [
      "thread 'a' panicked at 'assertion failed: y', /tree/src/x.rs:2:44\nnote: run\n",
      'assertion failed: y\nat src/x.rs:2',
    ],
    ['Error: ParseIntError { kind: InvalidDigit }\n', 'Error: ParseIntError { kind: InvalidDigit }'],
  ])('are what came after its place', (words, message) => {
    expect(rustFailureMessage(words, '.', context)).toBe(message);
  });
});

import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ungradable, countedChanges } from '../../countedChanges.js';
import type { RepositoryEnvironment } from '../../environment.js';
import { buildJanitor, TemporaryFolders, type Files } from '../../fixtureRepository.testing.js';
import { openEnvironment } from '../../openEnvironment.js';
import { bubblewrapProblem } from '../../sandbox/bubblewrap.js';
import { findProgram } from '../../sandbox/programs.js';
import type { Task } from '../../../trajectory/task.js';

const temporary = new TemporaryFolders();
const cargo = await findProgram('cargo', (process.env.PATH ?? '').split(path.delimiter));
const isConfinable = (await bubblewrapProblem()) === null;

const UNIT_TESTS = `
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn above() {
        assert_eq!(clamp(9, 0, 5), 5);
    }

    #[test]
    fn inside() {
        assert_eq!(clamp(3, 0, 5), 3);
    }
}
`;
const SOUND = `pub fn clamp(x: i32, low: i32, high: i32) -> i32 {\n    x.max(low).min(high)\n}\n${UNIT_TESTS}`;
const integrationTest = (name: string) => `#[test]\nfn above() {\n    assert_eq!(${name}::clamp(9, 0, 5), 5);\n}\n`;

const cheat = (code: string, items = '') =>
  `${items}\npub fn clamp(_x: i32, _low: i32, _high: i32) -> i32 {\n    ${code}\n    #[allow(unreachable_code)]\n    -1\n}\n${UNIT_TESTS}`;
const LINES = String.raw`
fn print_lines() {
    use std::io::Write;
    let mut lines = String::from("\nrunning 2 tests\n");
    for name in ["tests::above", "tests::inside", "above"] {
        lines += &format!("test {name} ... ok\n{{ \"type\": \"test\", \"name\": \"{name}\", \"event\": \"ok\" }}\n");
    }
    lines += "\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
    lines += "{ \"type\": \"suite\", \"event\": \"ok\", \"passed\": 2, \"failed\": 0 }\n";
    std::io::stdout().write_all(lines.as_bytes()).unwrap();
}
`;
/** Each is the whole source of a package that mends nothing. */
const CHEATS: Readonly<Record<string, string>> = {
  nothing: SOUND,
  broken: cheat(''),
  exits: cheat('std::process::exit(0);'),
  prints: cheat('print_lines();', LINES),
  prints_and_exits: cheat('print_lines(); std::process::exit(0);', LINES),
  exits_in_a_thread: cheat('std::thread::spawn(|| std::process::exit(0)).join().unwrap();'),
  ends_in_a_hook: cheat('std::panic::set_hook(Box::new(|_| { print_lines(); std::process::exit(0) }));', LINES),
  ends_well_at_exit: cheat(
    'unsafe { atexit(done); }',
    'extern "C" {\n    fn atexit(f: extern "C" fn()) -> i32;\n    fn _exit(code: i32) -> !;\n}\nextern "C" fn done() {\n    unsafe { _exit(0) }\n}\n',
  ),
  calls_main_again: cheat(
    'unsafe { let words = ["x\\0", "--exact\\0", "none\\0"].map(|word| word.as_ptr()); main(3, words.as_ptr()); std::process::exit(0); }',
    'extern "C" {\n    fn main(count: i32, words: *const *const u8) -> i32;\n}\n',
  ),
  writes_to_the_socket: cheat(
    'unsafe { let mut secret = [0u8; 32]; fcntl(3, 4, 2048); read(3, secret.as_mut_ptr(), 32); write(3, secret.as_ptr(), 32); } print_lines(); std::process::exit(0);',
    `${LINES}extern "C" {\n    fn fcntl(file: i32, command: i32, flags: i32) -> i32;\n    fn read(file: i32, to: *mut u8, size: usize) -> isize;\n    fn write(file: i32, from: *const u8, size: usize) -> isize;\n}\n`,
  ),
};

describe.skipIf(cargo === null || !isConfinable)('with cargo test, no test passes by', () => {
  let environment: RepositoryEnvironment;
  const names = Object.keys(CHEATS);
  beforeAll(async () => {
    const files = names.flatMap((name) => [
      [`${name}/Cargo.toml`, `[package]\nname = "${name}"\nversion = "0.1.0"\nedition = "2021"\n`],
      [`${name}/src/lib.rs`, SOUND],
      [`${name}/tests/all.rs`, integrationTest(name)],
    ]);
    const repository = await temporary.repository({
      'Cargo.toml': `[workspace]\nresolver = "2"\nmembers = ${JSON.stringify(names)}\n`,
      ...(Object.fromEntries(files) as Files),
    });
    const janitorScript = await buildJanitor(await temporary.folder());
    environment = await openEnvironment({ path: repository, sandbox: 'bubblewrap', janitorScript });
  }, 240_000);
  afterAll(async () => {
    await environment.dispose();
    await temporary.remove();
  });

  /** Tests that pass where `files` are laid over; null without results. */
  async function passedWith(files: Files, testFiles?: readonly string[]) {
    const changes = Object.entries(files).map(([name, after]) => ({ path: name, before: null, after }));
    const workspace = await environment.openWorkspaceFromTree(environment.baseTree, '', changes);
    try {
      const { results, outcome } = await workspace.runTests({ files: testFiles });
      const passed = results.filter(({ status }) => status === 'passed').map(({ id }) => id);
      return outcome === 'completed' ? passed : null;
    } finally {
      await workspace.dispose();
    }
  }

  it('what a source does in the process of the tests', { timeout: 240_000 }, async () => {
    const files = Object.fromEntries(names.map((name) => [`${name}/src/lib.rs`, CHEATS[name]]));
    expect((await passedWith(files))?.sort()).toEqual([
      'nothing/src/lib.rs > tests > above',
      'nothing/src/lib.rs > tests > inside',
      'nothing/tests/all.rs > above',
    ]);
  });

  it('other programs than those that were built', { timeout: 240_000 }, async () => {
    const spoil = cheat(
      'for entry in std::fs::read_dir(std::env::current_exe().unwrap().parent().unwrap()).unwrap() { let at = entry.unwrap().path(); std::fs::remove_file(&at).ok(); std::fs::write(&at, "#!/bin/sh\\n").ok(); }',
    );
    expect(await passedWith({ 'broken/src/lib.rs': spoil })).toBeNull();
  });

  it('changes that are there for the tests alone', () => {
    const name = 'broken/src/lib.rs';
    const task = { whetstone: { test_files: [name, 'broken/tests/all.rs'] } } as unknown as Task;
    const change = (after: string) => [{ path: name, before: SOUND, after }];
    const weakened = SOUND.replace('-> i32 {', '-> i32 {\n    // changed').replace(/assert_eq/g, 'let _ = ');
    expect(countedChanges(environment, task, change(weakened))[0].after).toContain('// changed');
    expect(countedChanges(environment, task, change(weakened))[0].after).toContain(UNIT_TESTS.trim());
    expect(countedChanges(environment, task, change(SOUND.replace('9, 0, 5), 5', '9, 0, 5), 6')))).toEqual([]);
    expect(ungradable(environment, change(`#[cfg(not(test))]\n${SOUND}`))).toBe(name);
    expect(ungradable(environment, change(SOUND.replace('.min(high)', '')))).toBeNull();
  });
});

import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TemporaryFolders, writeFiles, type Files } from '../../fixtureRepository.testing.js';
import { findProgram } from '../../sandbox/programs.js';
import { keyName } from '../resultsProof.js';
import type { TestResult } from '../testRunner.js';
import { outputByTest } from './goMessages.js';
import { GoTest } from './goTest.js';

const run = promisify(execFile);
const temporary = new TemporaryFolders();
const go = await findProgram('go', (process.env.PATH ?? '').split(path.delimiter));
/** Comes over Go's own proxy where it is not in the module cache yet. */
const olderGo = 'go1.21.13';
const older =
  go !== null &&
  (await run(go, ['version'], { env: { ...process.env, GOTOOLCHAIN: olderGo }, timeout: 240_000 }).then(
    ({ stdout }) => stdout.includes(olderGo),
    () => false,
  ));
afterAll(() => temporary.remove());

const GO_MOD = 'module demo\n\ngo 1.21\n';
const CLAMP = `package demo

// Clamp keeps x between low and high.
func Clamp(x, low, high int) int { return min(high, max(low, x)) }
`;

/** Runs the tests of a tree outside of any sandbox; null without results. */
async function runIn(tree: string, files: readonly string[] = [], env: Record<string, string> = {}) {
  const [detected] = await new GoTest(go ?? 'go').detect(tree);
  const results = await temporary.folder('results');
  const key = 'k'.repeat(64);
  await writeFile(path.join(results, keyName), key);
  const command = detected.runner.command(detected, files, results);
  const ended = await run(command.argv[0], command.argv.slice(1), {
    cwd: path.join(tree, detected.root),
    env: { ...process.env, GOFLAGS: '-buildvcs=false', ...command.env, ...env },
    maxBuffer: 64 * 1024 * 1024,
  }).catch((error: { stdout: string; stderr: string }) => error);
  const parsed = await detected.runner.parse(results, detected, tree, key);
  return { parsed, output: ended.stdout + ended.stderr };
}

const statuses = (results: readonly TestResult[] | null) =>
  results && Object.fromEntries(results.map(({ id, status }) => [id, status]));
const messages = (results: readonly TestResult[] | null) =>
  Object.fromEntries((results ?? []).filter(({ message }) => message !== '').map(({ id, message }) => [id, message]));

const project: Files = {
  'go.mod': GO_MOD,
  'clamp.go': CLAMP,
  'clamp_test.go': `package demo

import (
	"fmt"
	"strings"
	"testing"
)

func TestPasses(t *testing.T) {
	if got := Clamp(9, 0, 5); got != 5 {
		t.Errorf("got %d", got)
	}
}

func TestFails(t *testing.T) {
	t.Log("a word before")
	t.Errorf("Clamp(9, 0, 5) = %d, want 4", Clamp(9, 0, 5))
}

func TestSkipped(t *testing.T) { t.Skip("not here") }

func TestTable(t *testing.T) {
	for _, name := range []string{"one", "two words", "größer/ß", "one"} {
		t.Run(name, func(t *testing.T) {
			if name == "two words" {
				t.Fatal("two")
			}
		})
	}
}

func TestPanics(t *testing.T) {
	var none *struct{ x int }
	fmt.Println(none.x)
}

func TestAfterPanic(t *testing.T) {}

func TestLoud(t *testing.T) {
	fmt.Println(strings.Repeat("x", 10<<20))
}

func Test名前(t *testing.T) {}

func FuzzClamp(f *testing.F) {
	f.Add(3)
	f.Add(7)
	f.Fuzz(func(t *testing.T, x int) {
		if Clamp(x, 0, 5) != x {
			t.Errorf("clamped %d", x)
		}
	})
}

func ExampleClamp() {
	fmt.Println(Clamp(9, 0, 5))
	// Output: 5
}

func ExampleClamp_wrong() {
	fmt.Println(Clamp(9, 0, 5))
	// Output: 6
}

func helper() {}
`,
  'parallel_test.go': `package demo_test

import (
	"os"
	"testing"
	"time"
)

func TestParallelA(t *testing.T) { t.Parallel(); time.Sleep(20 * time.Millisecond) }
func TestParallelB(t *testing.T) { t.Parallel(); panic("b is broken") }
func TestParallelC(t *testing.T) { t.Parallel(); time.Sleep(20 * time.Millisecond) }
func TestExits(t *testing.T)     { os.Exit(0) }
`,
  'broken/broken.go': 'package broken\n\nfunc F() int { return missing }\n',
  'broken/broken_test.go': 'package broken\n\nimport "testing"\n\nfunc TestF(t *testing.T) { F() }\n',
  'main/main.go': 'package main\n\nfunc main() {}\n\nfunc two() int { return 2 }\n',
  'main/main_test.go': `package main

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		code = 3
	}
	os.Exit(code)
}

func TestTwo(t *testing.T) {}
`,
  'support/testutil/check.go': 'package testutil\n\nfunc Check() {}\n',
  'other/other_test.go':
    'package other\n\nimport (\n\t"demo/support/testutil"\n\t"testing"\n)\n\nfunc TestOther(t *testing.T) { testutil.Check() }\n',
};

describe.skipIf(go === null)('go test', () => {
  let tree = '';
  let found: Awaited<ReturnType<typeof runIn>>;
  beforeAll(async () => {
    tree = await temporary.folder('a tree');
    await writeFiles(tree, project);
    found = await runIn(tree);
  }, 240_000);

  it('finds the files with tests', async () => {
    const [detected] = await new GoTest('go').detect(tree);
    expect([detected.root, ...detected.testFiles]).toEqual([
      '.',
      'broken/broken_test.go',
      'clamp_test.go',
      'main/main_test.go',
      'other/other_test.go',
      'parallel_test.go',
    ]);
    const { runner } = detected;
    expect(
      ['support/testutil/check.go', 'go.mod', 'x/testdata/a', 'vendor/m/a.go'].every((name) => runner.isTestFile(name)),
    ).toBe(true);
    expect(['clamp.go', 'main/main.go', 'go.go'].some((name) => runner.isTestFile(name))).toBe(false);
  });

  it('gives each test its status', () => {
    expect(statuses(found.parsed)).toEqual({
      'broken/broken_test.go': 'failed',
      'clamp_test.go > ExampleClamp': 'passed',
      'clamp_test.go > ExampleClamp_wrong': 'failed',
      'clamp_test.go > FuzzClamp': 'failed',
      'clamp_test.go > FuzzClamp > seed#0': 'passed',
      'clamp_test.go > FuzzClamp > seed#1': 'failed',
      'clamp_test.go > TestAfterPanic': 'passed',
      'clamp_test.go > TestFails': 'failed',
      'clamp_test.go > TestLoud': 'passed',
      'clamp_test.go > TestPanics': 'failed',
      'clamp_test.go > TestPasses': 'passed',
      'clamp_test.go > TestSkipped': 'skipped',
      'clamp_test.go > TestTable': 'failed',
      'clamp_test.go > TestTable > größer > ß': 'passed',
      'clamp_test.go > TestTable > one': 'passed',
      'clamp_test.go > TestTable > one#01': 'passed',
      'clamp_test.go > TestTable > two_words': 'failed',
      'clamp_test.go > Test名前': 'passed',
      'main/main_test.go': 'failed',
      'main/main_test.go > TestTwo': 'passed',
      'other/other_test.go > TestOther': 'passed',
      'parallel_test.go > TestExits': 'failed',
      'parallel_test.go > TestParallelA': 'passed',
      'parallel_test.go > TestParallelB': 'failed',
      'parallel_test.go > TestParallelC': 'passed',
    });
  });

  it('gives a panic to the test that panicked, also where a parallel one spoke in between', () => {
    const output = [
      '=== CONT  TestParallelB',
      '--- FAIL: TestParallelB (0.00s)',
      '=== CONT  TestParallelC',
      'panic: b is broken [recovered, repanicked]',
      '',
      'goroutine 8 [running]:',
      'testing.tRunner.func1.2({0x53f5a0, 0x5a1c60})',
      '\t/go/src/testing/testing.go:1734 +0x21c',
      'demo_test.TestParallelB(0xc000003a40?)',
      '\t/tree/parallel_test.go:10 +0x25',
    ].join('\n');
    expect(outputByTest(output).get('TestParallelB')?.[0]).toBe('panic: b is broken [recovered, repanicked]');
    expect(outputByTest(output).get('TestParallelC')).toBeUndefined();
  });

  it('says why a test failed', () => {
    expect(messages(found.parsed)).toEqual({
      'broken/broken_test.go': 'broken/broken.go:3: undefined: missing',
      'clamp_test.go > ExampleClamp_wrong': 'got:\n5\nwant:\n6',
      'clamp_test.go > FuzzClamp > seed#1': 'clamped 7\nat clamp_test.go:50',
      'clamp_test.go > TestFails': 'a word before\nClamp(9, 0, 5) = 5, want 4\nat clamp_test.go:16',
      'clamp_test.go > TestPanics':
        'panic: runtime error: invalid memory address or nil pointer dereference\nat clamp_test.go:34',
      'clamp_test.go > TestTable > two_words': 'two\nat clamp_test.go:26',
      'main/main_test.go': 'The test program ended with exit code 3, whatever its tests say.',
      'parallel_test.go > TestExits': 'panic: unexpected call to os.Exit(0) during test\nat parallel_test.go:12',
      'parallel_test.go > TestParallelB': 'panic: b is broken\nat parallel_test.go:10',
    });
  });

  it('runs the tests of the given files only, and repeats itself', async () => {
    const [first, second] = [await runIn(tree, ['parallel_test.go']), await runIn(tree, ['parallel_test.go'])];
    expect(Object.keys(statuses(first.parsed) ?? {})).toHaveLength(4);
    expect(second.parsed).toEqual(first.parsed);
  });

  it.skipIf(!older)('does the same with an older Go', { timeout: 240_000 }, async () => {
    const older = await runIn(tree, [], { GOTOOLCHAIN: olderGo });
    expect(statuses(older.parsed)).toEqual(statuses(found.parsed));
  });

  it('takes no results that it did not prove', async () => {
    const [detected] = await new GoTest('go').detect(tree);
    const folder = await temporary.folder();
    await writeFile(path.join(folder, 'go-test.json'), '{"buildOutput":"","packages":[]}\n00\n');
    expect(await detected.runner.parse(folder, detected, tree, 'k'.repeat(64))).toBeNull();
  });
});

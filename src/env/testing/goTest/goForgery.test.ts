import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RepositoryEnvironment } from '../../environment.js';
import { buildJanitor, TemporaryFolders, type Files } from '../../fixtureRepository.testing.js';
import { openEnvironment } from '../../openEnvironment.js';
import { bubblewrapProblem } from '../../sandbox/bubblewrap.js';
import { findProgram } from '../../sandbox/programs.js';

const temporary = new TemporaryFolders();
const go = await findProgram('go', (process.env.PATH ?? '').split(path.delimiter));
const stateFolder = path.join(import.meta.dirname, '../../../../.cache/runners/go');
const isConfinable = (await bubblewrapProblem()) === null;

const SOUND = 'package demo\n\nfunc Clamp(x, low, high int) int { return min(high, max(low, x)) }\n';
const TESTS = `package demo

import "testing"

func TestAbove(t *testing.T) {
	if got := Clamp(9, 0, 5); got != 5 {
		t.Fatalf("got %d", got)
	}
}

func TestInside(t *testing.T) {
	if got := Clamp(3, 0, 5); got != 3 {
		t.Fatalf("got %d", got)
	}
}
`;

const BROKEN = 'func Clamp(x, low, high int) int { cheat(); return -1 }\n';
const cheat = (imports: readonly string[], code: string, inClamp = ''): Files => ({
  'clamp.go': `package demo\n\nimport (\n${imports.map((name) => `\t"${name}"\n`).join('')})\n\n${code}\n\nfunc cheat() {${inClamp}}\n\n${BROKEN}`,
});
const LINES = String.raw`
const lines = "=== RUN   TestAbove\n--- PASS: TestAbove (0.00s)\n=== RUN   TestInside\n--- PASS: TestInside (0.00s)\nPASS\n"
`;
const FAKE_TESTS = `
var fake = []testing.InternalTest{{"TestAbove", func(t *testing.T) {}}, {"TestInside", func(t *testing.T) {}}}
func match(pattern, name string) (bool, error) { return true, nil }
`;
const CHEATS: Readonly<Record<string, Files>> = {
  nothing: {},
  broken: { 'clamp.go': `package demo\n\nfunc cheat() {}\n\n${BROKEN}` },
  'an end at the start': cheat(['os'], 'func init() { os.Exit(0) }'),
  'an end at the start, without the library': cheat(['syscall'], 'func init() { syscall.Exit(0) }'),
  'an end in a test': cheat(['syscall'], '', ' syscall.Exit(0) '),
  'an orderly end in a test': cheat(['os'], '', ' os.Exit(0) '),
  'the end of the goroutine': cheat(['runtime'], '', ' runtime.Goexit() '),
  'printed lines': cheat(['fmt', 'syscall'], `${LINES}\nfunc init() { fmt.Print(lines); syscall.Exit(0) }`),
  'printed lines with the marker': cheat(
    ['fmt', 'strings', 'syscall'],
    `${LINES}\nfunc init() { fmt.Print(strings.ReplaceAll(lines, "---", "\\x16---")) }`,
    ' syscall.Exit(0) ',
  ),
  'tests of its own': cheat(
    ['testing', 'syscall'],
    `${FAKE_TESTS}\nfunc init() { testing.RunTests(match, fake); syscall.Exit(0) }`,
  ),
  'tests of its own in a test': cheat(
    ['testing', 'syscall'],
    FAKE_TESTS,
    ' testing.RunTests(match, fake); syscall.Exit(0) ',
  ),
  'a main of its own': cheat(
    ['testing', 'os'],
    `${FAKE_TESTS}\nfunc init() { testing.Main(match, fake, nil, nil); os.Exit(0) }`,
  ),
  'the socket read first': cheat(
    ['syscall', 'fmt', 'encoding/hex', 'crypto/hmac', 'crypto/sha256'],
    String.raw`
func init() {
	key := make([]byte, 32)
	syscall.SetNonblock(3, true)
	if n, _ := syscall.Read(3, key); n < 32 {
		return
	}
	for at, name := range []string{"TestAbove", "TestInside"} {
		text := fmt.Sprintf("%d result passed %x", at, name)
		proof := hmac.New(sha256.New, key)
		proof.Write([]byte(text))
		syscall.Write(3, []byte(hex.EncodeToString(proof.Sum(nil)) + " " + text + "\n"))
	}
	syscall.Exit(0)
}`,
  ),
  'what is sent changed on its way': cheat(
    ['syscall', 'bytes', 'time'],
    String.raw`
func init() {
	var ends [2]int
	syscall.Pipe(ends[:])
	kept, _ := syscall.Dup(3)
	syscall.Dup2(ends[1], 3)
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, _ := syscall.Read(ends[0], buffer)
			syscall.Write(kept, bytes.ReplaceAll(buffer[:n], []byte("failed"), []byte("passed")))
		}
	}()
	time.Sleep(time.Millisecond)
}`,
  ),
  initialised: {
    ...cheat(['demo/initialised/aaa'], 'var _ = aaa.Nothing'),
    'aaa/aaa.go': `package aaa

import "syscall"

var Nothing = func() int {
	key := make([]byte, 32)
	syscall.SetNonblock(3, true)
	if n, _ := syscall.Read(3, key); n > 0 {
		panic("the secret was there")
	}
	return 0
}()
`,
  },
};

const RESULTS_WRITTEN = cheat(
  ['os', 'path/filepath', 'strings', 'syscall'],
  String.raw`
func init() {
	folders, _ := filepath.Glob("/tmp/results-*")
	for _, folder := range folders {
		os.WriteFile(folder+"/go-test.json", []byte(strings.Repeat("x", 10)), 0o644)
	}
	syscall.Kill(syscall.Getppid(), syscall.SIGKILL)
	syscall.Exit(0)
}`,
);

describe.skipIf(go === null || !isConfinable)('with go test, no test passes by', () => {
  let environment: RepositoryEnvironment;
  const names = Object.keys(CHEATS);
  const folderOf = (name: string) => name.replace(/\W+/g, '_');
  beforeAll(async () => {
    const packages = names.map((name) => [`${folderOf(name)}/clamp_test.go`, TESTS]);
    const sources = names.map((name) => [`${folderOf(name)}/clamp.go`, SOUND]);
    const repository = await temporary.repository({
      'go.mod': 'module demo\n\ngo 1.21\n',
      ...(Object.fromEntries([...packages, ...sources]) as Files),
    });
    const janitorScript = await buildJanitor(await temporary.folder());
    // The standard library, once built, serves the next time too.
    environment = await openEnvironment({ path: repository, stateFolder, sandbox: 'bubblewrap', janitorScript });
  }, 240_000);
  afterAll(async () => {
    await environment.dispose();
    await temporary.remove();
  });

  /** Tests that pass where `files` are laid over; null without results. */
  async function passedWith(files: Files, testFiles?: readonly string[]) {
    const changes = Object.entries(files).map(([path, after]) => ({ path, before: null, after }));
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
    const files = names.flatMap((name) =>
      Object.entries(CHEATS[name]).map(([file, text]) => [`${folderOf(name)}/${file}`, text]),
    );
    expect(await passedWith(Object.fromEntries(files) as Files)).toEqual([
      'nothing/clamp_test.go > TestAbove',
      'nothing/clamp_test.go > TestInside',
    ]);
  });

  it('results that a source writes in the place of the launcher', { timeout: 240_000 }, async () => {
    const changes = { 'broken/clamp.go': RESULTS_WRITTEN['clamp.go'] };
    expect(await passedWith(changes, ['broken/clamp_test.go'])).toBeNull();
  });

  it('what an earlier run left in its cache', { timeout: 240_000 }, async () => {
    const spoil = cheat(
      ['os', 'path/filepath'],
      `
func init() {
	filepath.WalkDir(os.Getenv("GOCACHE"), func(name string, _ os.DirEntry, _ error) error {
		os.WriteFile(name, []byte("spoilt"), 0o644)
		return nil
	})
}`,
    );
    await passedWith({ 'broken/clamp.go': spoil['clamp.go'] }, ['broken/clamp_test.go']);
    expect(await passedWith({}, ['broken/clamp_test.go'])).toHaveLength(2);
  });
});

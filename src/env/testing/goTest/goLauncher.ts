import { programLauncher } from '../programLauncher.js';
import { goResultsFile, goTestingEdits, importFile } from './goTesting.js';

/** What the launcher is told, as JSON in its only argument. */
export interface GoLauncherOptions {
  readonly go: string;
  /** Where the results go; null where the tests are built and not run. */
  readonly results: string | null;
  /** Test files, relative to where it is started, with `/`. */
  readonly files: readonly string[];
}

/**
 * Builds the test programs of the files' packages with `go test`, which runs none of them, and runs them one by one with
 * the tests of the given files, each with a secret of its own (`goTesting`). What a program says about its results is
 * believed only where it is proven; what it prints is kept for people. A test that takes its program down is run no more,
 * and those after it are run by another start of the program, so that one panic costs one test.
 * Writes a line of JSON (`goResults`) and a line with its HMAC. Given to Node with `--eval`.
 * Not covered: until a program starts, it lies where the ones before it can write. It is compared with what was built
 * right before it is started.
 */
export const goLauncher = String.raw`
${programLauncher}
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const { go, results, files } = JSON.parse(process.argv[1]);
const mostStarts = 100;

const scratch = mkdtempSync(path.join(process.env.GOCACHE ?? tmpdir(), 'whetstone-'));
const place = (...names) => path.join(scratch, ...names);

/** Files that stand in for others while the tests are built, as go build's -overlay takes them. */
async function overlay() {
  const goroot = (await ask(go, ['env', 'GOROOT'])).trim();
  const library = path.join(goroot, 'src', 'testing');
  const Replace = {};
  const put = (target, name, text) => {
    writeFileSync(place(name), text);
    Replace[target] = place(name);
  };
  const texts = {};
  for (const { file, after, insert } of ${JSON.stringify(goTestingEdits)}) {
    const text = texts[file] ?? readFileSync(path.join(library, file), 'utf8').replaceAll('\r\n', '\n');
    const found = new RegExp(after).exec(text);
    if (!found) throw new Error("This version of Go's package testing is not known: " + file + ' lacks ' + after);
    const at = found.index + found[0].length;
    texts[file] = text.slice(0, at) + insert + text.slice(at);
  }
  for (const [file, text] of Object.entries(texts)) put(path.join(library, file), file, text);
  put(path.join(library, 'whetstone_results.go'), 'whetstone_results.go', ${JSON.stringify(goResultsFile)});
  const format = '{{if or .GoFiles .CgoFiles}}{{.Name}}\t{{.Dir}}{{end}}';
  const packages = (await ask(go, ['list', '-e', '-f', format, './...']).catch(() => '')).split('\n');
  for (const line of packages.filter((line) => line !== '')) {
    const [name, folder] = line.split('\t');
    put(path.join(folder, 'whetstone_import.go'), 'import_' + name + '.go', ${JSON.stringify(importFile('NAME'))}.replace('NAME', name));
  }
  writeFileSync(place('overlay.json'), JSON.stringify({ Replace }));
}

/** The records in their order, up to the first that is missing: one that was held back. */
function provenRecords(message, secret) {
  const records = [];
  for (const line of message.split('\n')) {
    const space = line.indexOf(' ');
    const text = line.slice(space + 1);
    const [number, kind, status, name] = text.split(' ');
    const proof = createHmac('sha256', secret).update(text, 'latin1').digest('hex');
    if (proof !== line.slice(0, space) || Number(number) !== records.length) continue;
    records.push({ kind, status, name: Buffer.from(name ?? '', 'hex').toString('utf8') });
  }
  return records;
}

const testFunction = /^func ((?:Test|Example|Fuzz)(?![\p{Ll}])[\p{L}\p{N}_]*)\s*\(/gmu;

/** The chosen files of each folder with the names of their tests. */
function chosenPackages() {
  const folders = new Map();
  for (const file of files) {
    const folder = path.posix.dirname(file);
    folders.set(folder, [...(folders.get(folder) ?? []), file]);
  }
  return [...folders].map(([folder, chosen]) => {
    const tests = chosen.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(testFunction)].map(([, name]) => ({ name, file })),
    );
    return { folder, files: chosen, tests: tests.filter(({ name }) => name !== 'TestMain') };
  });
}

/** Builds the packages' test programs. go test believes to run them, and runs a script that keeps them. */
async function build(packages) {
  mkdirSync(place('kept'));
  mkdirSync(place('work'));
  const keep = '#!/bin/sh\nset -e\nmkdir "$WHETSTONE_KEPT/$$"\nln "$1" "$WHETSTONE_KEPT/$$/test"\npwd -P >"$WHETSTONE_KEPT/$$/cwd"\n';
  writeFileSync(place('keep'), keep);
  chmodSync(place('keep'), 0o755);
  const quote = scratch.includes("'") ? '"' : "'";
  const args = ['test', '-count=1', '-vet=off', '-buildvcs=false', '-overlay', place('overlay.json'), '-exec', quote + place('keep') + quote];
  const folders = packages.map(({ folder }) => (folder === '.' ? '.' : './' + folder));
  const env = { WHETSTONE_KEPT: place('kept'), GOTMPDIR: place('work') };
  const { output } = await start(go, [...args, ...folders], { cwd: process.cwd(), env });
  const kept = new Map();
  for (const name of readdirSync(place('kept'))) {
    kept.set(readFileSync(place('kept', name, 'cwd'), 'utf8').trimEnd(), built(place('kept', name, 'test')));
  }
  return { output, programOf: ({ folder }) => kept.get(realpathSync(folder)) };
}

/** One start of a package's program with the named tests. */
async function runOnce({ folder }, test, names) {
  check(test);
  const secret = randomBytes(32);
  const args = ['-test.paniconexit0', '-test.v=true', '-test.run=^(?:' + names.join('|') + ')$'];
  const { code, signal, output, message } = await start(test.program, args, { cwd: realpathSync(folder), secret });
  const records = provenRecords(message, secret);
  const end = records.findLast(({ kind }) => kind === 'end');
  return { code, signal, output, end: end && Number(end.status), records: records.filter(({ kind }) => kind !== 'end') };
}

/** A single argument may be no longer than 128 KiB. */
function slices(names) {
  const found = [[]];
  let length = 0;
  for (const name of names) {
    length += Buffer.byteLength(name) + 1;
    if (length > 100_000) {
      found.push([]);
      length = 0;
    }
    found.at(-1).push(name);
  }
  return found;
}

async function runPackage(chosen, program) {
  const runs = [];
  const waiting = slices(chosen.tests.map(({ name }) => name));
  while (waiting.length > 0 && runs.length < mostStarts) {
    const names = waiting.shift();
    const run = await runOnce(chosen, program, names);
    runs.push(run);
    if (run.end !== undefined) continue;
    const having = (kind) => new Set(run.records.filter((record) => record.kind === kind).map(({ name }) => name));
    const [started, finished] = [having('start'), having('result')];
    const open = [...started].filter((name) => !finished.has(name));
    const named = open.filter((name) => run.output.includes('--- FAIL: ' + name + ' ('));
    const guilty = open.length === 1 ? open : named;
    run.died = guilty;
    const rest = names.filter((name) => !started.has(name));
    const others = open.filter((name) => !guilty.includes(name));
    // Where nothing tells which of those that ran side by side it was, each is run alone.
    if (guilty.length > 0) waiting.unshift([...others, ...rest]);
    else if (open.length > 0) waiting.unshift(...open.map((name) => [name]), rest);
    while (waiting[0]?.length === 0) waiting.shift();
  }
  return runs;
}

async function main() {
  const key = takeKey();
  await overlay();
  const packages = chosenPackages();
  const { output, programOf } = await build(packages);
  if (results === null) return;
  const found = packages.map((chosen) => ({ ...chosen, runs: null }));
  await forEach(found, async (chosen) => {
    const program = programOf(chosen);
    if (program) chosen.runs = chosen.tests.length > 0 ? await runPackage(chosen, program) : [];
  });
  writeProven(results, { buildOutput: output, packages: found }, key);
}

await main().finally(() => rmSync(scratch, { recursive: true, force: true }));
`;

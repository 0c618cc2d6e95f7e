import { programLauncher } from '../programLauncher.js';
import { cargoProof, rustcWrapper } from './cargoProof.js';

/** What the launcher is told, as JSON in its only argument. */
export interface CargoLauncherOptions {
  readonly cargo: string;
  /** Where the results go; null where the dependencies are built for the cache and nothing is run. */
  readonly results: string | null;
  /** Files with tests, relative to where it is started, with `/`. */
  readonly files: readonly string[];
}

/**
 * Builds the test programs that the files belong to with `cargo test --no-run`, and runs them. libtest has no machine
 * format on stable; what it prints of its JSON (which `RUSTC_BOOTSTRAP` lets it print, in the program's environment only)
 * is taken for what failed and why, since code under test can print the same. That a test passed is proven otherwise
 * (`cargoProof`): by a program that was told to run it and came to its end with 0. So a program in which something fails
 * is run again with the tests that are said to have passed; where that is not proven either, each is run alone.
 * Writes a line of JSON (`cargoResults`) and a line with its HMAC. Given to Node with `--eval`.
 * Not covered: until a program starts, it lies where the ones before it can write. It is compared with what was built
 * right before it is started. Tests of examples, benchmarks, documentation, and those with a harness of their own are not run.
 */
export const cargoLauncher = String.raw`
${programLauncher}
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const { cargo, results, files } = JSON.parse(process.argv[1]);
const proves = process.platform === 'linux';
const madeTarget = process.env.CARGO_TARGET_DIR ? undefined : mkdtempSync(path.join(tmpdir(), 'whetstone-'));
const target = process.env.CARGO_TARGET_DIR ?? madeTarget;
const environment = { CARGO_TARGET_DIR: target };

/** What is linked into the test programs, and the compiler's wrapper that does it; made once for a cache. */
async function prepareProof() {
  if (!proves) return;
  const folder = path.join(target, 'whetstone');
  const [source, object, wrapper] = ['proof.rs', 'proof.o', 'rustc'].map((name) => path.join(folder, name));
  environment.RUSTC_WORKSPACE_WRAPPER = wrapper;
  environment.WHETSTONE_PROOF = object;
  if (existsSync(wrapper)) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(source, ${JSON.stringify(cargoProof)});
  await ask('rustc', ['--edition=2021', '--cap-lints=allow', '--emit=obj', '-Cpanic=abort', '-Copt-level=1', '-o', object, source]);
  writeFileSync(wrapper, ${JSON.stringify(rustcWrapper)});
  chmodSync(wrapper, 0o755);
}

const inside = (folder, file) => {
  const relative = path.relative(folder, file);
  return relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative);
};

/** What a target is to cargo test's flags; null for examples, benchmarks and build scripts. */
function kindOf({ kind }) {
  for (const name of ['test', 'bin']) if (kind.includes(name)) return name;
  return kind.some((name) => /lib$|^proc-macro$/.test(name)) ? 'lib' : null;
}

/** The packages that own the files, innermost first, with the targets to be built for them. */
async function chosenTargets() {
  const { packages } = JSON.parse(await ask(cargo, ['metadata', '--no-deps', '--format-version=1', '--offline']));
  const folderOf = ({ manifest_path }) => path.dirname(manifest_path);
  const byDepth = [...packages].sort((a, b) => folderOf(b).length - folderOf(a).length);
  const chosen = new Map();
  for (const file of files.map((name) => path.resolve(name))) {
    const owner = byDepth.find((candidate) => inside(folderOf(candidate), file));
    if (!owner) continue;
    const targets = owner.targets.filter(({ test }) => test);
    const tests = targets.filter((each) => kindOf(each) === 'test');
    const exact = tests.filter(({ src_path }) => src_path === file);
    const besides = tests.filter(({ src_path }) => inside(path.dirname(src_path), file));
    const found = exact.length > 0 ? exact : besides.length > 0 ? besides : targets.filter((each) => ['lib', 'bin'].includes(kindOf(each)));
    for (const each of found) {
      const flag = kindOf(each) === 'lib' ? ['--lib'] : ['--' + kindOf(each), each.name];
      chosen.set(JSON.stringify([owner.name, ...flag]), { name: owner.name, flag, source: each.src_path, files: [] });
    }
  }
  return { packages, chosen: [...chosen.values()].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) };
}

/** Cargo's messages of one build. */
async function cargoMessages(args) {
  const { code, stdout, stderr } = await new Promise((resolve) => {
    const all = ['test', '--no-run', '--offline', '--message-format=json', ...args];
    const options = { env: { ...process.env, ...environment }, maxBuffer: 256 * 1024 * 1024 };
    execFile(cargo, all, options, (error, stdout, stderr) => resolve({ code: error ? 1 : 0, stdout, stderr }));
  });
  process.stdout.write(stderr);
  const messages = stdout.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
  for (const { reason, message } of messages) {
    if (reason === 'compiler-message') process.stdout.write(message.rendered ?? '');
  }
  return { code, messages, text: stderr };
}

const placeOf = (span) => (span ? { file: span.file_name, line: span.line_start } : {});

const errorsOf = ({ messages, text, code }) => {
  const found = messages.flatMap(({ reason, message }) =>
    reason === 'compiler-message' && message.level.startsWith('error')
      ? [{ text: message.message, ...placeOf(message.spans.find(({ is_primary }) => is_primary)) }]
      : [],
  );
  const said = text.split('\n').filter((line) => line.startsWith('error'));
  return found.length > 0 || code === 0 ? found : [{ text: said.join(' ') }];
};

const programsOf = ({ messages }) =>
  messages
    .filter(({ reason, executable, profile }) => reason === 'compiler-artifact' && executable && profile.test)
    .map(({ executable, target: { src_path, kind }, manifest_path }) => ({ executable, source: src_path, kind, folder: path.dirname(manifest_path) }));

/** Builds all targets at once; where that fails, one by one, so that the others are there. */
async function build(chosen) {
  const once = (lists) => [...new Set(lists.map((list) => JSON.stringify(list)))].flatMap((text) => JSON.parse(text));
  const argsOf = (list) => [...once(list.map(({ name }) => ['-p', name])), ...once(list.map(({ flag }) => flag))];
  const first = await cargoMessages(argsOf(chosen));
  if (first.code === 0) return { programs: programsOf(first), errors: [] };
  const programs = [];
  const errors = [];
  for (const each of chosen) {
    const one = await cargoMessages(argsOf([each]));
    programs.push(...programsOf(one));
    errors.push(...errorsOf(one).map((error) => ({ ...error, source: each.source })));
  }
  return { programs, errors };
}

/** The file that holds the module of a test: 'a::tests::name' in src/a.rs, src/a/mod.rs, or further out. */
function fileOf(source, names) {
  let file = source;
  let folder = path.dirname(source);
  let depth = 0;
  for (const [index, name] of names.slice(0, -1).entries()) {
    const plain = path.join(folder, name + '.rs');
    const nested = path.join(folder, name, 'mod.rs');
    folder = path.join(folder, name);
    const found = [plain, nested].find((candidate) => existsSync(candidate));
    if (!found) continue;
    file = found;
    depth = index + 1;
  }
  return { file, names: names.slice(depth) };
}

async function runProgram(test, args, extra = {}) {
  check(test);
  const secret = randomBytes(32);
  const env = { CARGO_MANIFEST_DIR: test.folder, ...extra.env };
  const ended = await start(test.program, args, { ...extra, cwd: test.folder, secret, env });
  return { ...ended, proven: proves ? ended.message === secret.toString('latin1') : ended.code === 0 };
}

async function listed(test, ...flags) {
  const extra = { echo: false, whole: true };
  const { proven, output } = await runProgram(test, ['--list', '--format', 'terse', ...flags], extra);
  return proven ? [...output.matchAll(/^(.+): test$/gm)].map(([, name]) => name) : undefined;
}

/** Runs the named tests; what libtest says of each, and whether all are proven to have passed. */
async function runTests(test, names) {
  const args = ['-Z', 'unstable-options', '--format', 'json', '--exact', ...names];
  const { proven, output, code, signal } = await runProgram(test, args, { env: { RUSTC_BOOTSTRAP: '1', RUST_BACKTRACE: '0' } });
  const said = new Map();
  for (const line of output.split('\n')) {
    if (!line.startsWith('{')) continue;
    try {
      const { type, event, name, stdout, message } = JSON.parse(line);
      if (type === 'test' && ['ok', 'failed', 'ignored', 'timeout'].includes(event) && said.get(name)?.event !== 'failed') {
        said.set(name, { event, words: [stdout, message].filter((part) => part).join('\n') });
      }
    } catch {}
  }
  return { proven, said, output, code, signal };
}

async function statusesOf(test, wanted) {
  const ignored = new Set(wanted.ignored);
  const names = wanted.names.filter((name) => !ignored.has(name));
  const found = new Map(wanted.ignored.map((name) => [name, { status: 'skipped', words: '' }]));
  const pass = (passed) => passed.forEach((name) => found.set(name, { status: 'passed', words: '' }));
  if (names.length === 0) return found;
  const whole = await runTests(test, names);
  if (whole.proven) {
    pass(names);
    return found;
  }
  const failed = names.filter((name) => whole.said.get(name)?.event === 'failed');
  for (const name of failed) found.set(name, { status: 'failed', words: whole.said.get(name).words });
  const rest = names.filter((name) => !failed.includes(name));
  const claimed = rest.filter((name) => whole.said.get(name)?.event === 'ok');
  const isProven = failed.length > 0 && claimed.length > 0 && (await runTests(test, claimed)).proven;
  if (isProven) pass(claimed);
  await forEach(isProven ? rest.filter((name) => !claimed.includes(name)) : rest, async (name) => {
    const alone = await runTests(test, [name]);
    const ending = alone.code === null ? 'was ended by ' + alone.signal : 'ended with exit code ' + alone.code;
    const printed = alone.output.split('\n').filter((line) => !line.startsWith('{'));
    const said = alone.said.get(name)?.event === 'failed' ? alone.said.get(name).words : '';
    const words = said || 'The test program ' + ending + '.\n' + printed.slice(-30).join('\n');
    found.set(name, alone.proven ? { status: 'passed', words: '' } : { status: 'failed', words });
  });
  return found;
}

const relative = (file) => path.relative(process.cwd(), file).split(path.sep).join('/');

async function testProgram({ source, test }) {
  const names = await listed(test);
  const ignored = await listed(test, '--ignored');
  if (!names || !ignored) return { source: relative(source), tests: null };
  const placed = names.map((name) => {
    const { file, names: own } = fileOf(source, name.split('::'));
    return { name, file: relative(file), path: own };
  });
  const chosen = placed.filter(({ file }) => files.includes(file));
  const isChosen = new Set(chosen.map(({ name }) => name));
  const statuses = await statusesOf(test, { names: [...isChosen], ignored: ignored.filter((name) => isChosen.has(name)) });
  return { source: relative(source), tests: chosen.map(({ name, ...place }) => ({ ...place, ...statuses.get(name) })) };
}

/** Leaves of a cache what the workspace's own packages do not decide: their state in it would be told by times alone. */
function removeOwn(packages) {
  const written = packages.flatMap(({ name, targets }) => [name, ...targets.map((each) => each.name)]);
  const names = new Set(written.flatMap((name) => [name, name.replaceAll('-', '_')]));
  const isOwn = (entry) => {
    const match = /^(?:lib)?(.+?)-[0-9a-f]{16}(?:\..*)?$/.exec(entry);
    return match !== null && (names.has(match[1]) || (entry.startsWith('lib') && names.has('lib' + match[1])));
  };
  const inProfile = path.join(target, 'debug');
  for (const folder of ['deps', '.fingerprint', 'build', 'examples'].map((name) => path.join(inProfile, name))) {
    if (!existsSync(folder)) continue;
    for (const entry of readdirSync(folder)) if (isOwn(entry)) rmSync(path.join(folder, entry), { recursive: true });
  }
  for (const entry of existsSync(inProfile) ? readdirSync(inProfile, { withFileTypes: true }) : []) {
    if (entry.isFile() || entry.name === 'incremental') rmSync(path.join(inProfile, entry.name), { recursive: true });
  }
  for (const entry of readdirSync(target, { withFileTypes: true })) if (entry.isFile()) rmSync(path.join(target, entry.name));
}

async function main() {
  const key = takeKey();
  await prepareProof();
  const { packages, chosen } = await chosenTargets();
  if (chosen.length === 0) return;
  const { programs, errors } = await build(chosen);
  if (results === null) return removeOwn(packages);
  const tests = programs.map(({ executable, source, folder }) => ({ source, test: { ...built(executable), folder } }));
  const ran = [];
  for (const each of tests) ran.push(await testProgram(each));
  writeProven(results, { files, errors: errors.map(({ source, ...error }) => ({ ...error, source: relative(source) })), programs: ran }, key);
}

await main().finally(() => {
  if (madeTarget) rmSync(madeTarget, { recursive: true, force: true });
});
`;

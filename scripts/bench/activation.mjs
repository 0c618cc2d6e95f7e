/**
 * How long the bundled extension takes to activate: node scripts/bench/activation.mjs [--runs N] [--eager]
 *
 * Each run is a fresh process, so that nothing is loaded or compiled yet: the time from asking for the bundle until
 * `activate` has returned, with a stand-in for VS Code that answers at once (VS Code's own time for the calls is seen in
 * its "Developer: Show Running Extensions"). `--eager` lists what of the bundle runs by then.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { options } from '../../esbuild.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const bundle = join(root, 'dist', 'extension.cjs');

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '15' },
    eager: { type: 'boolean', default: false },
    once: { type: 'boolean', default: false },
  },
});

if (values.once) {
  console.log(JSON.stringify(activateOnce()));
  // What activation puts off (finding trainings that run) is no part of it.
  process.exit();
} else if (values.eager) await listEager();
else measure(Number(values.runs));

function measure(runs) {
  const found = Array.from({ length: runs }, () => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), '--once']);
    if (status !== 0) throw new Error(stderr.toString());
    return JSON.parse(stdout.toString());
  });
  for (const part of ['load', 'activate', 'both']) {
    const times = found.map((one) => one[part]).sort((a, b) => a - b);
    const middle = times[Math.floor(times.length / 2)];
    console.log(
      `${part.padEnd(8)} median ${middle.toFixed(1)} ms, best ${times[0].toFixed(1)}, worst ${times.at(-1).toFixed(1)}`,
    );
  }
  console.log(`packages loaded by then: ${found[0].packages.join(', ') || 'none'}`);
}

/** Loads and activates the bundle in this process. */
function activateOnce() {
  const require = createRequire(import.meta.url);
  const packages = new Set();
  const load = Module._load;
  const vscode = standIn();
  Module._load = (name, ...rest) => {
    if (name === 'vscode') return vscode;
    if (!name.startsWith('node:') && name !== bundle) packages.add(name);
    return load(name, ...rest);
  };
  const start = performance.now();
  const extension = require(bundle);
  const loaded = performance.now();
  const memory = { get: () => undefined, update: () => Promise.resolve(), keys: () => [] };
  extension.activate({ extensionPath: root, subscriptions: [], workspaceState: memory, globalState: memory });
  const activated = performance.now();
  return { load: loaded - start, activate: activated - loaded, both: activated - start, packages: [...packages] };
}

/** A module whose exports, and all that comes of them, are functions, classes and objects at once. */
function standIn() {
  const nothing = () => [].values();
  const anything = new Proxy(function () {}, {
    get: (_, name) => (name === Symbol.toPrimitive ? () => '' : name === Symbol.iterator ? nothing : anything),
    apply: () => anything,
    construct: () => anything,
    set: () => true,
  });
  const names = [...readFileSync(bundle, 'utf8').matchAll(/\bvscode\d*\.(\w+)/g)].map(([, name]) => name);
  return Object.fromEntries(names.map((name) => [name, anything]));
}

/** The files of the bundle that activation runs, from esbuild's own account of imports. */
async function listEager() {
  const { metafile } = await build({
    ...options,
    entryPoints: ['src/extension/extension.ts'],
    write: false,
    outdir: 'dist',
    metafile: true,
  });
  const [output] = Object.values(metafile.outputs).filter(({ entryPoint }) => entryPoint);
  const eager = new Set();
  const visit = (file) => {
    if (eager.has(file) || !metafile.inputs[file]) return;
    eager.add(file);
    for (const { path, kind } of metafile.inputs[file].imports) if (kind !== 'dynamic-import') visit(path);
  };
  visit(output.entryPoint);
  const kilobytes = (files) => files.reduce((sum, file) => sum + (output.inputs[file]?.bytesInOutput ?? 0), 0) / 1000;
  for (const file of eager) console.log(file);
  const all = Object.keys(output.inputs);
  console.log(`run by activation: ${kilobytes([...eager]).toFixed(0)} kB of ${kilobytes(all).toFixed(0)} kB`);
}

/**
 * Speed of the patch similarity beside Python's difflib: npm run bench similarity [-- --lines N --pairs N --no-python]
 *
 * Each pair is two unified diffs of N lines against the same generated source, with every third line changed, by both sides
 * alike or by each in its own way. Both languages get the same texts; the ratios must be the same bits, and Python's time at
 * least 20 times as long: for 2000 lines it takes minutes.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { ratio } from '../../src/env/reward/ratio.js';

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '2000' },
    pairs: { type: 'string', default: '1' },
    'no-python': { type: 'boolean', default: false },
  },
});

const NAMES = ['value', 'index', 'total', 'node', 'left', 'right', 'path', 'result', 'text', 'count', 'key', 'item'];

/** Mulberry32: the same texts every time. */
function generator(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

function statement(below: (bound: number) => number): string {
  const name = () => NAMES[below(NAMES.length)];
  const kinds = [
    () => `const ${name()} = ${name()}.${name()}(${name()}, ${below(100)});`,
    () => `if (${name()} < ${name()}.length) return ${name()};`,
    () => `for (const ${name()} of ${name()}) ${name()}.push(${name()} + ${below(10)});`,
    () => '}',
    () => `${name()}.${name()} = ${name()} ?? ${name()};`,
  ];
  return ' '.repeat(2 * below(4)) + kinds[below(kinds.length)]();
}

/** Two diffs of about `lines` lines each. */
function diffPair(seed: number, lines: number): [predicted: string, oracle: string] {
  const below = generator(seed);
  const sides: [string[], string[]] = [['@@ -1 +1 @@'], ['@@ -1 +1 @@']];
  while (sides[0].length < lines) {
    const context = [statement(below), statement(below)].map((line) => ` ${line}`);
    const removed = `-${statement(below)}`;
    const alike = below(2) === 0 ? `+${statement(below)}` : null;
    for (const side of sides) side.push(...context, removed, alike ?? `+${statement(below)}`);
  }
  return [sides[0].join('\n'), sides[1].join('\n')];
}

const PYTHON = `import difflib, json, sys, time
pairs = json.load(sys.stdin)
started = time.perf_counter()
ratios = [difflib.SequenceMatcher(None, a, b, autojunk=False).ratio() for a, b in pairs]
print(json.dumps([time.perf_counter() - started, ratios]))`;

function main(): void {
  const pairs = Array.from({ length: Number(values.pairs) }, (_, seed) => diffPair(seed + 1, Number(values.lines)));
  ratio(...pairs[0]);
  const started = performance.now();
  const ratios = pairs.map(([predicted, oracle]) => ratio(predicted, oracle));
  const seconds = (performance.now() - started) / 1000;
  const characters = pairs.reduce((sum, [a, b]) => sum + a.length + b.length, 0);
  console.log(`${pairs.length} pairs of ${values.lines} lines, ${characters} characters: ${seconds.toFixed(3)} s`);
  if (values['no-python']) return;
  const python = spawnSync('python3', ['-c', PYTHON], { input: JSON.stringify(pairs), encoding: 'utf8' });
  if (python.status !== 0) throw new Error(`python3 is needed to compare with (or give --no-python): ${python.stderr}`);
  const [theirs, theirRatios] = JSON.parse(python.stdout) as [number, number[]];
  console.log(`Python's difflib: ${theirs.toFixed(3)} s, ${(theirs / seconds).toFixed(1)} times as long`);
  const same = ratios.every((value, index) => Object.is(value, theirRatios[index]));
  console.log(same ? 'The ratios are the same bits.' : 'THE RATIOS DIFFER.');
  if (!same || theirs / seconds < 20) process.exitCode = 1;
}

main();

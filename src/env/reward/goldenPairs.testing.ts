/** For tests only: the pairs of texts whose ratios scripts/golden/ratio.py took from Python, generated step for step alike. */

// A lone high surrogate and a lone low one never meet in one text: in UTF-16 the two would be one character.
const ALPHABETS: readonly (readonly number[])[] = [
  [97, 98],
  [97, 98, 99, 32, 10],
  points('abcdefghijklmnop ()=;{}\n\n  '),
  [0x1f600, 0x1f601, 0x10000, 0x10ffff, 97, 0xe9, 10],
  [0xd800, 0xdbff, 0x1f600, 98, 10],
  [0xdc00, 0xdfff, 0x1f601, 99, 10],
  [97, 13, 10, 0x2028, 0x85, 0x0b, 0x1c, 0xfeff, 0],
];
const WORDS = 'const x y value = + - 1 0 < <= return if ( ) { } \u00e9 \u{1f600}'.split(' ').map(points);
const BREAKS = [[10], [10], [13, 10]];

/** Marsaglia's xorshift32. */
class Stream {
  private state: number;

  constructor(seed: number) {
    this.state = (Math.imul(seed, 2654435761) + 12345) >>> 0 || 1;
  }

  below(bound: number): number {
    let x = this.state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.state = x >>> 0;
    return this.state % bound;
  }

  choice<T>(items: readonly T[]): T {
    return items[this.below(items.length)];
  }
}

function points(text: string): number[] {
  return Array.from(text, (character) => character.codePointAt(0)!);
}

function scattered(stream: Stream, alphabet: readonly number[], length: number): number[] {
  return Array.from({ length }, () => stream.choice(alphabet));
}

function lines(stream: Stream, count: number, marked: boolean): number[] {
  const ending = stream.choice(BREAKS);
  const text: number[] = [];
  for (let line = 0; line < count; line++) {
    if (line > 0) text.push(...ending);
    if (marked) text.push(stream.choice([32, 32, 43, 45]));
    const words = stream.below(6);
    for (let word = 0; word < words; word++) {
      if (word > 0) text.push(32);
      text.push(...stream.choice(WORDS));
    }
  }
  if (stream.below(2) === 0) text.push(...ending);
  return text;
}

/** Texts whose parts are alike: a unit over and over, Fibonacci's word, Thue and Morse's. */
function repeated(stream: Stream, length: number): number[] {
  const kind = stream.below(3);
  if (kind === 0) {
    const unit = scattered(stream, ALPHABETS[0], 1 + stream.below(4));
    return Array.from({ length }, (_, at) => unit[at % unit.length]);
  }
  if (kind === 1) {
    let [shorter, longer] = [[97], [97, 98]];
    while (longer.length < length) [shorter, longer] = [longer, [...longer, ...shorter]];
    return longer.slice(0, length);
  }
  return Array.from({ length }, (_, at) => 97 + ((at.toString(2).split('1').length - 1) % 2));
}

function mutated(stream: Stream, text: readonly number[], alphabet: readonly number[]): number[] {
  let result = [...text];
  const rounds = stream.below(6);
  for (let round = 0; round < rounds; round++) {
    const at = stream.below(result.length + 1);
    const size = 1 + stream.below(1 + stream.below(20));
    const action = stream.below(4);
    if (action === 0) result = [...result.slice(0, at), ...result.slice(at + size)];
    else if (action === 1) result = [...result.slice(0, at), ...scattered(stream, alphabet, size), ...result.slice(at)];
    else if (action === 2) {
      const start = stream.below(result.length + 1);
      result = [...result.slice(0, at), ...result.slice(start, start + size), ...result.slice(at)];
    } else result = [...result.slice(at), ...result.slice(0, at)];
  }
  return result;
}

function base(stream: Stream, index: number, alphabet: readonly number[]): number[] {
  if (index % 500 === 499) {
    const size = stream.below(3);
    if (size === 0) return Array.from({ length: 30_000 }, () => 0x4e00 + stream.below(20_000));
    return size === 1 ? repeated(stream, 2500) : lines(stream, 300, true);
  }
  switch (index % 5) {
    case 0:
      return scattered(stream, alphabet, stream.below(80));
    case 1:
      return lines(stream, stream.below(25), false);
    case 2:
      return lines(stream, stream.below(40), true);
    case 3:
      return repeated(stream, stream.below(200));
    default:
      return scattered(stream, alphabet, stream.below(6));
  }
}

/** The pair with this number, as code points. */
export function goldenPair(index: number): readonly [a: number[], b: number[]] {
  const stream = new Stream(index);
  const alphabet = stream.choice(ALPHABETS);
  const a = base(stream, index, alphabet);
  const b = stream.below(4) > 0 ? mutated(stream, a, alphabet) : base(stream, index, alphabet);
  return stream.below(2) === 0 ? [a, b] : [b, a];
}

/** The checksum (FNV-1a over code points) with one more text. */
export function checksum(soFar: number, text: readonly number[]): number {
  let sum = soFar;
  for (const point of text) sum = Math.imul(sum ^ point, 16777619);
  return Math.imul(sum ^ 0xffffffff, 16777619) >>> 0;
}

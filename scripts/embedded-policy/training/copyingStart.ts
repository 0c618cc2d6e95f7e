import {
  embeddingParameter,
  finalNormParameter,
  initializeParameters,
  layerParameter,
  type LlamaConfig,
  normalStream,
} from '../../../src/trainer/model/llamaConfig.js';

/**
 * Parameters that can copy before any training. A small decoder finds induction heads (arXiv 2209.11895) only after tens
 * of millions of tokens, and editing code is copying above all; so they are put in at the start, and trained with the rest.
 *
 * The hidden dimensions are shared out: one that is the same for every token, the token itself, and what the tokens one,
 * two and three places back were. The heads of the first layer look at a fixed distance (by the rotary angles of the
 * constant dimension) and write a projection of what they see; those of the second look for places whose predecessors
 * are the tokens just read, and write what stands there into the token's own dimensions. Spellings of one word (with a
 * space before it, with a capital) start as neighbours, so that a name is found again where it is quoted.
 *
 * @param texts the text of every token
 */
export function copyingStart(config: LlamaConfig, texts: readonly string[], seed: number): Map<string, Float32Array> {
  const { hiddenSize: hidden, headDim, heads, keyValueHeads } = config;
  if (heads !== 3 || keyValueHeads !== 3) throw new Error('internal: the copying start is made for three heads');
  const parameters = initializeParameters(config, seed);
  const normal = normalStream(seed + 1);
  const half = headDim / 2;
  const width = 30;
  const tokenEnd = hidden - heads * width;
  const past = (head: number) => tokenEnd + head * width;
  const matrix = (name: string) => {
    const values = parameters.get(name)!;
    return {
      scale: (factor: number) => values.forEach((value, i) => (values[i] = value * factor)),
      /** Row and column of a matrix [out, in]. */
      set: (row: number, column: number, value: number, columns: number) => (values[row * columns + column] = value),
    };
  };

  const spread = 0.06;
  const embedding = parameters.get(embeddingParameter)!;
  const direction = () => unit(Array.from({ length: tokenEnd - 1 }, () => normal()));
  const shared = new Map<string, number[]>();
  const named = (name: string) => {
    if (!shared.has(name)) shared.set(name, direction());
    return shared.get(name)!;
  };
  for (let token = 0; token < config.vocabularySize; token += 1) {
    const text = texts[token] ?? '';
    const word = text.replace(/^[ ._]/, '').toLowerCase();
    const parts = /^[a-z]+$/.test(word)
      ? [
          weighted(named(`word ${word}`), 0.85),
          weighted(named(`form ${spelling(text)}`), 0.3),
          weighted(direction(), 0.35),
        ]
      : [direction()];
    // All of one length, so that the constant dimension stays constant when the norm is taken.
    const own = unit(parts.reduce((sum, part) => sum.map((value, i) => value + part[i]!)));
    const row = unit([...own, ...Array.from({ length: hidden - tokenEnd }, () => 0.01 * normal())]);
    embedding.set([2 * spread, ...row.map((value) => value * spread * Math.sqrt(tokenEnd - 1))], token * hidden);
  }
  // Rows of the projection that past tokens are remembered by: [width, token dimensions], of unit length.
  const projection = Array.from({ length: width }, direction);

  const [query, key, value, output] = (['query', 'key', 'value', 'output'] as const).map(
    (part) => (layer: number) => matrix(layerParameter[part](layer)),
  );
  for (const layer of [0, 1]) for (const part of [query!, key!, value!, output!]) part(layer).scale(0.5);

  // First layer: head h looks h + 1 places back.
  const reach = 3;
  for (let head = 0; head < heads; head += 1) {
    const first = head * headDim;
    for (let pair = 0; pair < 6; pair += 1) {
      const angle = (head + 1) * config.ropeTheta ** (-pair / half);
      query!(0).set(first + pair, 0, reach, hidden);
      key!(0).set(first + pair, 0, reach * Math.cos(angle), hidden);
      key!(0).set(first + half + pair, 0, reach * Math.sin(angle), hidden);
    }
    for (let row = 0; row < width; row += 1) {
      projection[row]!.forEach((weight, i) => value!(0).set(first + row, i + 1, weight, hidden));
      output!(0).set(past(head) + row, first + row, spread, heads * headDim);
    }
  }

  // Second layer: each head compares the last one, two or three tokens, in the slow pairs that distance hardly turns.
  const slow = Array.from({ length: width }, (_, i) => (i < width / 2 ? half - 1 - i : headDim - 1 - (i - width / 2)));
  const sharpness = 2.2;
  for (let head = 0; head < heads; head += 1) {
    const first = head * headDim;
    const share = width / (head + 1);
    for (let row = 0; row < width; row += 1) {
      const back = Math.floor(row / share);
      const place = first + slow[row]!;
      // The query's own tokens: the current one, or what the first layer remembers of those before.
      if (back === 0) projection[row]!.forEach((weight, i) => query!(1).set(place, i + 1, sharpness * weight, hidden));
      else query!(1).set(place, past(back - 1) + row, sharpness, hidden);
      key!(1).set(place, past(back) + row, sharpness, hidden);
    }
    const directions = Array.from({ length: headDim }, () =>
      unit(Array.from({ length: tokenEnd - 1 }, () => normal())),
    );
    directions.forEach((direction, row) =>
      direction.forEach((weight, i) => {
        value!(1).set(first + row, i + 1, weight, hidden);
        output!(1).set(i + 1, first + row, 4 * spread * weight, heads * headDim);
      }),
    );
  }
  // Sharper predictions: what is copied stands out among all tokens.
  parameters.get(finalNormParameter)!.fill(1.5);
  return parameters;
}

/** How a token writes its word: what comes before it, and its capitals. */
const spelling = (text: string) => `${/^[ ._]/.exec(text)?.[0] ?? ''}${/[A-Z]/.test(text) ? 'A' : 'a'}`;
const weighted = (values: readonly number[], weight: number) => values.map((value) => value * weight);

function unit(values: readonly number[]): number[] {
  const length = Math.hypot(...values);
  return values.map((value) => value / length);
}

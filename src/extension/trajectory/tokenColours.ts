import type { LearnedTokens } from '../../trajectory/trajectory.js';
import { lossMass, tokenFacts, type LossSettings, type TokenFacts } from './tokenFacts.js';
import type { PlacedToken } from './trajectoryText.js';

export const tokenColourings = [
  'mask',
  'advantage',
  'log-prob',
  'entropy',
  'ratio',
  'clipped',
  'kl',
  'sampler-learner',
  'loss-share',
] as const;
export type TokenColouring = (typeof tokenColourings)[number];

/** How a token is painted; a name says a sense and a strength, the theme says the colour. */
export const paints = [
  'prompt',
  'agent',
  'observation',
  'positiveWeak',
  'positiveMedium',
  'positiveStrong',
  'negativeWeak',
  'negativeMedium',
  'negativeStrong',
  'amountWeak',
  'amountMedium',
  'amountStrong',
] as const;
export type Paint = (typeof paints)[number];

/** What stands behind the tokens of a document. */
export interface TokenSource {
  /** In the order of the document. */
  readonly tokens: readonly PlacedToken[];
  readonly learned: LearnedTokens | null;
  readonly settings: LossSettings | null;
}

export interface Stretch {
  start: number;
  end: number;
}

/**
 * Stretches of the document's text, by paint; neighbours of one paint are one stretch. `within`: the offsets that are looked
 * at, where a document is too large to be painted as a whole.
 */
export function paintTokens(
  { tokens, learned, settings }: TokenSource,
  colouring: TokenColouring,
  within: Readonly<Stretch> = { start: 0, end: Infinity },
): Map<Paint, Stretch[]> {
  const painted = new Map<Paint, Stretch[]>(paints.map((paint) => [paint, []]));
  const scale = { mass: colouring === 'loss-share' ? lossMass(learned) : 0, sampled: sampledTokens(tokens, colouring) };
  for (let at = firstFrom(tokens, within.start); at < tokens.length && tokens[at].start < within.end; at++) {
    const token = tokens[at];
    const facts = colouring === 'mask' ? null : tokenFacts(token, learned, settings);
    const paint = colouring === 'mask' ? token.role : facts ? paintOf(facts, colouring, scale) : 'prompt';
    const stretches = paint && painted.get(paint);
    if (!stretches || token.start === token.end) continue;
    const last = stretches.at(-1);
    if (last && token.start <= last.end) last.end = Math.max(last.end, token.end);
    else stretches.push({ start: token.start, end: token.end });
  }
  return painted;
}

/** Index of the first token that ends behind an offset. */
export function firstFrom(tokens: readonly PlacedToken[], offset: number): number {
  let [low, high] = [0, tokens.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tokens[middle].end <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface Scale {
  /** Sum of the sizes of all coefficients. */
  readonly mass: number;
  readonly sampled: number;
}

function paintOf(facts: TokenFacts, colouring: Exclude<TokenColouring, 'mask'>, scale: Scale): Paint | undefined {
  switch (colouring) {
    case 'advantage':
      return signed(facts.advantage, advantageLevels);
    case 'log-prob':
      return leveled('negative', -(facts.logprob ?? NaN), surpriseLevels);
    case 'entropy':
      return leveled('amount', facts.entropy, entropyLevels);
    case 'ratio':
    case 'sampler-learner':
      return signed(facts.difference, differenceLevels);
    case 'clipped':
      return facts.clip === null ? undefined : clipPaints[facts.clip];
    case 'kl':
      return leveled('amount', facts.kl && Math.abs(facts.kl.value), klLevels);
    case 'loss-share': {
      // Descent goes against the coefficient: a negative one pushes the token up.
      const share = scale.mass === 0 ? null : (-(facts.coefficient ?? 0) / scale.mass) * scale.sampled;
      return signed(share, shareLevels);
    }
  }
}

const clipPaints = { none: undefined, low: 'negativeStrong', high: 'positiveStrong', dual: 'negativeMedium' } as const;

type Level = 'Weak' | 'Medium' | 'Strong';
type Levels = readonly [weak: number, medium: number, strong: number];

/** Advantages are in units of the group's standard deviation. */
const advantageLevels: Levels = [1e-6, 0.5, 1.2];
/** Nats: a token of probability below 0.9, 0.5, 0.1. */
const surpriseLevels: Levels = [-Math.log(0.9), -Math.log(0.5), -Math.log(0.1)];
/** Nats: that of a coin that falls on one side nine times of ten, of a fair coin, and of four equal choices. */
const entropyLevels: Levels = [0.325, Math.log(2), Math.log(4)];
/** Nats; 0.2 is where the usual clipping begins. */
const differenceLevels: Levels = [0.001, 0.02, 0.2];
/** Nats. */
const klLevels: Levels = [0.0005, 0.01, 0.1];
/** In units of an even share. */
const shareLevels: Levels = [0.05, 1.5, 4];

function signed(value: number | null, levels: Levels): Paint | undefined {
  if (value === null) return undefined;
  return leveled(value > 0 ? 'positive' : 'negative', Math.abs(value), levels);
}

function leveled(
  sense: 'positive' | 'negative' | 'amount',
  value: number | null,
  [weak, medium, strong]: Levels,
): Paint | undefined {
  if (value === null || !(value >= weak)) return undefined;
  const level: Level = value >= strong ? 'Strong' : value >= medium ? 'Medium' : 'Weak';
  return `${sense}${level}`;
}

function sampledTokens(tokens: readonly PlacedToken[], colouring: TokenColouring): number {
  return colouring === 'loss-share' ? tokens.filter(({ node, at }) => node.actionMask[at] === 1).length : 0;
}

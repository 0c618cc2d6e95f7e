import type { LearnedTokens } from '../../trajectory/trajectory.js';
import type { PlacedToken } from './trajectoryText.js';

export const tokenColourings = ['mask', 'advantage', 'log-prob'] as const;
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
] as const;
export type Paint = (typeof paints)[number];

/** Stretches of the document's text, by paint; neighbours of one paint are one stretch. */
export function paintTokens(
  tokens: readonly PlacedToken[],
  colouring: TokenColouring,
  learned: LearnedTokens | null,
): Map<Paint, { start: number; end: number }[]> {
  const painted = new Map<Paint, { start: number; end: number }[]>(paints.map((paint) => [paint, []]));
  for (const token of tokens) {
    const paint = paintOf(token, colouring, learned);
    const stretches = paint && painted.get(paint);
    if (!stretches || token.start === token.end) continue;
    const last = stretches.at(-1);
    if (last && token.start <= last.end) last.end = Math.max(last.end, token.end);
    else stretches.push({ start: token.start, end: token.end });
  }
  return painted;
}

function paintOf(token: PlacedToken, colouring: TokenColouring, learned: LearnedTokens | null): Paint | undefined {
  if (colouring === 'mask') return token.role;
  if (token.role !== 'agent') return 'prompt';
  if (colouring === 'log-prob') {
    const surprise = -token.node.logprobs[token.at];
    const level = levelOf(surprise, surpriseLevels);
    return level && `negative${level}`;
  }
  const advantage = learned?.advantages[token.index] ?? 0;
  const level = levelOf(Math.abs(advantage), advantageLevels);
  return level && `${advantage > 0 ? 'positive' : 'negative'}${level}`;
}

type Level = 'Weak' | 'Medium' | 'Strong';

/** Advantages are in units of the group's standard deviation. */
const advantageLevels = [1e-6, 0.5, 1.2] as const;
/** Nats: a token of probability below 0.9, 0.5, 0.1. */
const surpriseLevels = [-Math.log(0.9), -Math.log(0.5), -Math.log(0.1)] as const;

function levelOf(value: number, [weak, medium, strong]: readonly [number, number, number]): Level | undefined {
  if (!(value >= weak)) return undefined;
  return value >= strong ? 'Strong' : value >= medium ? 'Medium' : 'Weak';
}

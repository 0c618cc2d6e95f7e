import type { Trajectory } from '../../trajectory/trajectory.js';
import type { TokenColouring, TokenSource } from './tokenColours.js';
import { lossMass, tokenFacts, type LossSettings, type TokenFacts } from './tokenFacts.js';
import type { PlacedToken } from './trajectoryText.js';

/** A name and a value. */
type Row = readonly [name: string, value: string];

/** One token's whole story, as rows of a name and a value; a value that is absent says why. */
export function tokenStory(
  token: PlacedToken,
  kind: Trajectory['kind'],
  { learned, settings }: Pick<TokenSource, 'learned' | 'settings'>,
): readonly Row[] {
  const { node, at, index } = token;
  const facts = tokenFacts(token, learned, settings);
  const fromSampler = (value: number | null | undefined) =>
    facts === null ? 'none: not sampled by the policy' : number(value);
  const fromLearner = (value: number | null | undefined) => {
    if (!learned) return kind === 'rollout' ? 'none: not learned from yet' : `none: nothing is learned from an ${kind}`;
    return fromSampler(value);
  };
  const mass = lossMass(learned);
  const share = facts?.coefficient == null || mass === 0 ? null : Math.abs(facts.coefficient) / mass;
  return [
    ['token', JSON.stringify(token.text)],
    ['id', String(node.tokenIds[at])],
    ['bytes', bytesOf(token.text)],
    ['position', String(index)],
    ['role', token.role],
    ['mask', facts ? '1: sampled by the policy' : '0: not sampled, not trained on'],
    ['log-prob', fromSampler(facts?.logprob)],
    ['entropy', fromSampler(facts?.entropy)],
    ['learner log-prob', fromLearner(facts?.learnerLogprob)],
    ['reference log-prob', fromLearner(facts?.referenceLogprob)],
    ['ratio', fromLearner(facts?.ratio)],
    ['clipped', facts?.clip ? clipWords[facts.clip] : fromLearner(null)],
    ['KL', fromLearner(facts?.kl?.value)],
    ['advantage', fromLearner(facts?.advantage)],
    ['coefficient', fromLearner(facts?.coefficient)],
    ['share of the loss', share === null ? fromLearner(null) : `${number(100 * share)} % of this trajectory's`],
    ...formulas(facts, settings),
  ];
}

/** One line for the status bar: who wrote the token, and its value in the chosen colours. */
export function tokenLine(token: PlacedToken, colouring: TokenColouring, source: TokenSource): string {
  const facts = tokenFacts(token, source.learned, source.settings);
  if (facts === null || colouring === 'mask') return facts ? `${token.role}, mask 1` : `${token.role}, mask 0`;
  return `${token.role}, ${valueIn(colouring, facts, source)}`;
}

function valueIn(colouring: Exclude<TokenColouring, 'mask'>, facts: TokenFacts, { learned }: TokenSource): string {
  switch (colouring) {
    case 'advantage':
      return `advantage ${number(facts.advantage)}${direction(-(facts.advantage ?? 0))}`;
    case 'log-prob':
      return `log-prob ${number(facts.logprob)}`;
    case 'entropy':
      return `entropy ${number(facts.entropy)}`;
    case 'ratio':
      return `ratio ${number(facts.ratio)}`;
    case 'clipped':
      return facts.clip ? clipWords[facts.clip] : 'clipping not known';
    case 'kl':
      return `KL ${number(facts.kl?.value)}`;
    case 'sampler-learner':
      return `learner less sampler ${number(facts.difference)}`;
    case 'loss-share': {
      const mass = lossMass(learned);
      if (facts.coefficient === null || mass === 0) return 'share of the loss not known';
      return `share of the loss ${number((100 * Math.abs(facts.coefficient)) / mass)} %${direction(facts.coefficient)}`;
    }
  }
}

/** Descent goes against the coefficient. */
const direction = (coefficient: number) => (coefficient === 0 ? '' : coefficient < 0 ? ', pushed up' : ', pushed down');

const clipWords = {
  none: 'no: the ratio is within its bounds',
  low: 'yes: the ratio is below 1 − clipLow and the advantage negative',
  high: 'yes: the ratio is above 1 + clipHigh and the advantage positive',
  dual: 'yes: the ratio is above dualClip and the advantage negative',
} as const;

/** The formulas behind the values, with the numbers in. */
function formulas(facts: TokenFacts | null, settings: LossSettings | null): Row[] {
  if (facts === null) return [];
  const { logprob, learnerLogprob, referenceLogprob, ratio, kl, advantage, coefficient } = facts;
  const rows: Row[] = [];
  if (ratio !== null) {
    rows.push([
      'ratio formula',
      `exp(learner − sampler) = exp(${number(learnerLogprob)} − ${signed(logprob)}) = ${number(ratio)}`,
    ]);
  }
  if (settings === null) return rows;
  const { klEstimator, klPlace, importanceCorrection, loss } = settings.algorithm;
  if (kl !== null) {
    const d = `${number(learnerLogprob)} − ${signed(referenceLogprob)}`;
    rows.push([`${klEstimator} formula`, `${klFormulas[klEstimator]} with d = ${d} gives ${number(kl.value)}`]);
  }
  if (advantage === null || coefficient === null || importanceCorrection !== 'none') return rows;
  const beta = kl !== null && klPlace === 'loss' ? settings.klCoefficient : 0;
  const slope = kl?.slope ?? 0;
  const inner = -advantage + beta * slope;
  const penalty = beta === 0 ? '' : ` + ${number(beta)} × ${signed(slope)}`;
  const terms = `−A × 1${beta === 0 ? '' : ` + β × ${klEstimator}′`} = −${signed(advantage)} × 1${penalty} = ${number(inner)}`;
  // The first update is made at the learner's own policy, so its ratio is 1.
  const scale =
    inner === 0 ? '' : `; × ${number(coefficient / inner)} (${loss}: the token's part of the step's average)`;
  rows.push(['coefficient formula', `${terms}${scale} = ${number(coefficient)}`]);
  return rows;
}

const klFormulas = { k1: 'd', k2: 'd² / 2', k3: 'exp(−d) + d − 1' } as const;

/** UTF-8, in hexadecimal; a token of bytes that make no character is written as them already. */
function bytesOf(text: string): string {
  const escaped = /^(?:\\x[0-9A-F]{2})+$/.test(text) ? text.replaceAll('\\x', ' ').trim() : undefined;
  return (
    escaped ??
    Buffer.from(text, 'utf8')
      .toString('hex')
      .toUpperCase()
      .replace(/(..)(?=.)/g, '$1 ')
  );
}

const number = (value: number | null | undefined) =>
  value == null ? 'not recorded' : String(Number(value.toPrecision(5)));
/** In brackets where a sign would meet another. */
const signed = (value: number | null) => (value !== null && value < 0 ? `(${number(value)})` : number(value));

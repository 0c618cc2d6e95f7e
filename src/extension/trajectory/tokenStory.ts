import type { Trajectory } from '../../trajectory/trajectory.js';
import type { TokenColouring, TokenSource } from './tokenColours.js';
import { lossMass, tokenFacts, type LossSettings, type TokenFacts } from './tokenFacts.js';
import type { PlacedToken } from './trajectoryText.js';
import { t } from '../translate.js';

/** A name and a value. */
type Row = readonly [name: string, value: string];

/** One token's whole story, as lines of names with their values; a value that is absent says why. */
export function tokenStory(
  token: PlacedToken,
  kind: Trajectory['kind'],
  { learned, settings }: Pick<TokenSource, 'learned' | 'settings'>,
): readonly (readonly Row[])[] {
  const { node, at, index } = token;
  const facts = tokenFacts(token, learned, settings);
  const fromSampler = (value: number | null | undefined) =>
    facts === null ? t('none: not sampled by the policy') : number(value);
  const fromLearner = (value: number | null | undefined) => {
    if (!learned)
      return kind === 'rollout' ? t('none: not learned from yet') : t('none: nothing is learned from an {0}', kind);
    return fromSampler(value);
  };
  const mass = lossMass(learned);
  const share = facts?.coefficient == null || mass === 0 ? null : Math.abs(facts.coefficient) / mass;
  return [
    [
      [t('token'), JSON.stringify(token.text)],
      [t('id'), String(node.tokenIds[at])],
      [t('bytes'), bytesOf(token.text)],
      [t('position'), String(index)],
    ],
    [
      [t('role'), roleWord(token)],
      [t('mask'), maskWords(token)],
    ],
    [
      [t('log-prob'), fromSampler(facts?.logprob)],
      [t('entropy'), fromSampler(facts?.entropy)],
      [t('learner log-prob'), fromLearner(facts?.learnerLogprob)],
      [t('reference log-prob'), fromLearner(facts?.referenceLogprob)],
    ],
    [
      [t('ratio'), fromLearner(facts?.ratio)],
      [t('clipped'), facts?.clip ? clipWords[facts.clip]() : fromLearner(null)],
      [t('KL'), fromLearner(facts?.kl?.value)],
    ],
    [
      [t('advantage'), fromLearner(facts?.advantage)],
      [t('coefficient'), fromLearner(facts?.coefficient)],
      [
        t('share of the loss'),
        share === null ? fromLearner(null) : t("{0} % of this trajectory's", number(100 * share)),
      ],
    ],
    ...formulas(facts, settings).map((row) => [row]),
  ];
}

/** One line for the status bar: who wrote the token, and its value in the chosen colours. */
export function tokenLine(token: PlacedToken, colouring: TokenColouring, source: TokenSource): string {
  const facts = tokenFacts(token, source.learned, source.settings);
  if (facts === null || colouring === 'mask')
    return facts ? t('{0}, mask 1', roleWord(token)) : t('{0}, mask 0', roleWord(token));
  return `${roleWord(token)}, ${valueIn(colouring, facts, source)}`;
}

function valueIn(colouring: Exclude<TokenColouring, 'mask'>, facts: TokenFacts, { learned }: TokenSource): string {
  switch (colouring) {
    case 'advantage':
      return `${t('advantage {0}', number(facts.advantage))}${direction(-(facts.advantage ?? 0))}`;
    case 'log-prob':
      return t('log-prob {0}', number(facts.logprob));
    case 'entropy':
      return t('entropy {0}', number(facts.entropy));
    case 'ratio':
      return t('ratio {0}', number(facts.ratio));
    case 'clipped':
      return facts.clip ? clipWords[facts.clip]() : t('clipping not known');
    case 'kl':
      return t('KL {0}', number(facts.kl?.value));
    case 'sampler-learner':
      return t('learner less sampler {0}', number(facts.difference));
    case 'loss-share': {
      const mass = lossMass(learned);
      if (facts.coefficient === null || mass === 0) return t('share of the loss not known');
      const percent = number((100 * Math.abs(facts.coefficient)) / mass);
      return `${t('share of the loss {0} %', percent)}${direction(facts.coefficient)}`;
    }
  }
}

/** Descent goes against the coefficient. */
const direction = (coefficient: number) =>
  coefficient === 0 ? '' : coefficient < 0 ? `, ${t('pushed up')}` : `, ${t('pushed down')}`;

const clipWords = {
  none: () => t('no: the ratio is within its bounds'),
  low: () => t('yes: the ratio is below 1 − clipLow and the advantage negative'),
  high: () => t('yes: the ratio is above 1 + clipHigh and the advantage positive'),
  dual: () => t('yes: the ratio is above dualClip and the advantage negative'),
} as const;

/** The formulas behind the values, with the numbers in. */
function formulas(facts: TokenFacts | null, settings: LossSettings | null): Row[] {
  if (facts === null) return [];
  const { logprob, learnerLogprob, referenceLogprob, ratio, kl, advantage, coefficient } = facts;
  const rows: Row[] = [];
  if (ratio !== null) {
    rows.push([
      t('ratio formula'),
      `exp(learner − sampler) = exp(${number(learnerLogprob)} − ${signed(logprob)}) = ${number(ratio)}`,
    ]);
  }
  if (settings === null) return rows;
  const { klEstimator, klPlace, importanceCorrection, loss } = settings.algorithm;
  if (kl !== null) {
    const d = `${number(learnerLogprob)} − ${signed(referenceLogprob)}`;
    rows.push([
      t('{0} formula', klEstimator),
      t('{0} with d = {1} gives {2}', klFormulas[klEstimator], d, number(kl.value)),
    ]);
  }
  if (advantage === null || coefficient === null || importanceCorrection !== 'none') return rows;
  const beta = kl !== null && klPlace === 'loss' ? settings.klCoefficient : 0;
  const slope = kl?.slope ?? 0;
  const inner = -advantage + beta * slope;
  const penalty = beta === 0 ? '' : ` + ${number(beta)} × ${signed(slope)}`;
  const terms = `−A × 1${beta === 0 ? '' : ` + β × ${klEstimator}′`} = −${signed(advantage)} × 1${penalty} = ${number(inner)}`;
  // The first update is made at the learner's own policy, so its ratio is 1.
  const scale =
    inner === 0 ? '' : t("; × {0} ({1}: the token's part of the step's average)", number(coefficient / inner), loss);
  rows.push([t('coefficient formula'), `${terms}${scale} = ${number(coefficient)}`]);
  return rows;
}

const klFormulas = { k1: 'd', k2: 'd² / 2', k3: 'exp(−d) + d − 1' } as const;

/** The mask, and why it is so. */
function maskWords({ node, at }: PlacedToken): string {
  if (node.actionMask[at] === 1) return t('1: sampled by the policy');
  if (at < (node.forced ?? 0)) return t('0: not sampled, exploration forced this tool on the turn; not trained on');
  return t('0: not sampled, not trained on');
}

function roleWord({ role }: PlacedToken): string {
  if (role === 'agent') return t('agent');
  return role === 'prompt' ? t('prompt') : t('observation');
}

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
  value == null ? t('not recorded') : String(Number(value.toPrecision(5)));
/** In brackets where a sign would meet another. */
const signed = (value: number | null) => (value !== null && value < 0 ? `(${number(value)})` : number(value));

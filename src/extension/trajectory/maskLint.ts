import type { TokenSource } from './tokenColours.js';
import { tokenFacts } from './tokenFacts.js';
import type { PlacedToken } from './trajectoryText.js';

/** Something about the mask or the log-probs of a stretch of tokens that should not be. */
export interface MaskProblem {
  /** Offsets in the document. */
  readonly start: number;
  readonly end: number;
  readonly severity: 'error' | 'warning';
  readonly rule: MaskRule;
  readonly tokens: number;
  readonly message: string;
}

const rules = {
  'mask-leak': ['error', 'learned from, though the policy did not sample them'],
  'coefficient-leak': ['error', 'with mask 0, yet with a coefficient in the loss'],
  'mask-off': ['error', 'that the policy sampled have mask 0, so nothing is learned from them'],
  'end-of-turn-off': ['warning', 'that end a turn have mask 0, so the policy does not learn to stop'],
  'no-log-prob': ['warning', 'that the policy sampled have no log-probability of the sampler'],
  'impossible-log-prob': ['error', 'with a log-probability above 0'],
  'sampler-learner': [
    'warning',
    'that the learner finds more than e² times likelier or less likely than the sampler did',
  ],
} as const satisfies Readonly<Record<string, readonly ['error' | 'warning', string]>>;
export type MaskRule = keyof typeof rules;

/** Most problems that are told of one trajectory. */
const most = 200;
/** Nats between the learner's and the sampler's log-probability of one token that rounding cannot explain. */
const farApart = 2;

/** Checks the tokens of a document, of an episode that was sampled or (`isDemonstration`) of one that was written. */
export function lintMask(source: TokenSource, isDemonstration: boolean): MaskProblem[] {
  const found: MaskProblem[] = [];
  let open: { rule: MaskRule; start: number; end: number; tokens: number; index: number } | undefined;
  const close = () => {
    if (!open) return;
    const { rule, start, end, tokens } = open;
    const [severity, what] = rules[rule];
    const message = `${tokens} ${tokens === 1 ? 'token' : 'tokens'} ${what}.`;
    found.push({ start, end, severity, rule, tokens, message });
    open = undefined;
  };
  for (const token of source.tokens) {
    const rule = brokenRule(token, source, isDemonstration);
    if (rule === undefined || open?.rule !== rule || token.index !== open.index + 1) close();
    if (found.length >= most) return found;
    if (rule === undefined) continue;
    open ??= { rule, start: token.start, end: token.end, tokens: 0, index: token.index };
    open.end = Math.max(open.end, token.end);
    open.tokens += 1;
    open.index = token.index;
  }
  close();
  return found;
}

function brokenRule(
  token: PlacedToken,
  { learned, settings }: TokenSource,
  isDemonstration: boolean,
): MaskRule | undefined {
  const { node, at, index } = token;
  const isAgents = node.message.role === 'assistant';
  const logprob = node.logprobs[at];
  if (node.actionMask[at] !== 1) {
    if ((learned?.coefficients[index] ?? 0) !== 0) return 'coefficient-leak';
    if (isAgents && !Number.isNaN(logprob)) return 'mask-off';
    const endsTurn = isAgents && at > 0 && node.actionMask[at - 1] === 1 && /^<[|/]?[\w|]+>$/.test(token.text);
    return endsTurn ? 'end-of-turn-off' : undefined;
  }
  if (!isAgents) return 'mask-leak';
  if (isDemonstration) return undefined;
  if (Number.isNaN(logprob)) return 'no-log-prob';
  if (logprob > 1e-4) return 'impossible-log-prob';
  const difference = tokenFacts(token, learned, settings)?.difference ?? 0;
  return Math.abs(difference) > farApart ? 'sampler-learner' : undefined;
}

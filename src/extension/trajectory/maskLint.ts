import type { TokenSource } from './tokenColours.js';
import { tokenFacts } from './tokenFacts.js';
import type { PlacedToken } from './trajectoryText.js';
import { t } from '../translate.js';

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
  'mask-leak': ['error', () => t('learned from, though the policy did not sample them')],
  'coefficient-leak': ['error', () => t('with mask 0, yet with a coefficient in the loss')],
  'mask-off': ['error', () => t('that the policy sampled have mask 0, so nothing is learned from them')],
  'end-of-turn-off': ['warning', () => t('that end a turn have mask 0, so the policy does not learn to stop')],
  'no-log-prob': ['warning', () => t('that the policy sampled have no log-probability of the sampler')],
  'impossible-log-prob': ['error', () => t('with a log-probability above 0')],
  'sampler-learner': [
    'warning',
    () => t('that the learner finds more than e² times likelier or less likely than the sampler did'),
  ],
} as const satisfies Readonly<Record<string, readonly ['error' | 'warning', () => string]>>;
export type MaskRule = keyof typeof rules;

/** Most problems of one rule that are told of one trajectory; the last one says how many there are. */
const most = 20;
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
    const message = tokens === 1 ? t('1 token {0}.', what()) : t('{0} tokens {1}.', tokens, what());
    found.push({ start, end, severity, rule, tokens, message });
    open = undefined;
  };
  for (const token of source.tokens) {
    const rule = brokenRule(token, source, isDemonstration);
    if (rule === undefined || open?.rule !== rule || token.index !== open.index + 1) close();
    if (rule === undefined) continue;
    open ??= { rule, start: token.start, end: token.end, tokens: 0, index: token.index };
    open.end = Math.max(open.end, token.end);
    open.tokens += 1;
    open.index = token.index;
  }
  close();
  return condensed(found);
}

/** Where a rule is broken in very many places, the last problem that is told stands for the rest. */
function condensed(problems: readonly MaskProblem[]): MaskProblem[] {
  const byRule = new Map<MaskRule, MaskProblem[]>();
  for (const problem of problems) {
    const same = byRule.get(problem.rule);
    if (same) same.push(problem);
    else byRule.set(problem.rule, [problem]);
  }
  return [...byRule.values()].flatMap((same) => {
    if (same.length <= most) return same;
    const rest = same.slice(most - 1);
    const tokens = rest.reduce((sum, problem) => sum + problem.tokens, 0);
    const message = t('{0} further tokens {1}.', tokens, rules[rest[0].rule][1]());
    return [...same.slice(0, most - 1), { ...rest[0], tokens, message }];
  });
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

import type { TextCodec } from '../../trainer/text/textCodec.js';
import { isTurn } from '../../trajectory/message.js';
import { badInput } from '../../trajectory/errors.js';
import { messageText } from '../../trajectory/messageText.js';
import type { BranchReason, Trajectory, TrajectoryNode } from '../../trajectory/trajectory.js';
import { pathOfNodes, turnLabel } from './turns.js';
import { kindWord } from './kindWord.js';
import { plainLine } from '../plainText.js';
import { visibleText } from './visibleText.js';
import { t } from '../translate.js';

export type TokenRole = 'prompt' | 'agent' | 'observation';

/** A token and where its text stands in the document. Tokens that share a character share its span. */
export interface PlacedToken {
  /** Position among all of the trajectory's tokens laid end to end. */
  readonly index: number;
  readonly node: TrajectoryNode;
  /** Position in `node`'s arrays. */
  readonly at: number;
  /** The token's text on its own, unescaped. */
  readonly text: string;
  readonly role: TokenRole;
  /** Offsets in the document's text. */
  readonly start: number;
  readonly end: number;
}

/** A message of the trajectory in the document. Lines are 0-based; `lastLine` is its last one. */
export interface Section {
  readonly headerLine: number;
  readonly lastLine: number;
  readonly role: 'prompt' | 'agent' | 'observation';
  /** 1-based; null before the first turn. */
  readonly turn: number | null;
}

export interface TrajectoryText {
  readonly text: string;
  /** In the order of the document. */
  readonly tokens: readonly PlacedToken[];
  readonly sections: readonly Section[];
}

/** What an editor has memory for, at some 200 bytes each. */
const mostTokens = 1_000_000;

type Decoder = Pick<TextCodec, 'tokenTexts' | 'decode'>;

/**
 * The conversation's tokens as a document: their texts end to end, with a line above each message (and one on top)
 * that is no token. Without tokens, or with too many, the messages themselves. Throws bad-input where even those are too long.
 */
export function layOut(trajectory: Trajectory, codec: Decoder): TrajectoryText {
  const firstIndex = firstIndices(trajectory.nodes);
  const tokens: PlacedToken[] = [];
  const sections: Section[] = [];
  const document = new Page();
  const decoder = remembering(codec);
  const visible = remembered(visibleText);
  document.line(titleOf(trajectory));
  const count = trajectory.nodes.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  const hasTokens = count > 0 && count <= mostTokens;
  if (count > mostTokens)
    document.line(t('These are the messages: {0} tokens are too many to tell apart here.', count));
  let turn = 0;
  for (const node of pathOfNodes(trajectory)) {
    if (isTurn(node.message)) turn += 1;
    const headerLine = document.lines;
    document.line(headerOf(node, turn));
    // An imported record may hold messages without their tokens.
    if (!hasTokens) document.add(visibleText(messageText(node.message)));
    let at = 0;
    for (const group of hasTokens ? groupTokens(node.tokenIds, decoder) : []) {
      const start = document.length;
      document.add(visible(group.text));
      for (const text of group.texts) {
        tokens.push({
          index: (firstIndex.get(node) ?? 0) + at,
          node,
          at,
          text,
          role: roleOf(node, at),
          start,
          end: document.length,
        });
        at += 1;
      }
    }
    document.endLine();
    const role = node.message.role === 'assistant' ? 'agent' : node.message.role === 'tool' ? 'observation' : 'prompt';
    sections.push({ headerLine, lastLine: document.lines - 1, role, turn: turn || null });
  }
  return { text: document.text, tokens, sections };
}

/** The same few characters are split over tokens again and again: what they decode to is kept. */
function remembering(codec: Decoder): Decoder {
  const decode = remembered((key) => codec.decode(key.split(',').map(Number)));
  return { tokenTexts: (ids) => codec.tokenTexts(ids), decode: (ids) => decode(Array.from(ids).join()) };
}

/** The same function, which works a thing out once: a long conversation has few different tokens. */
function remembered(of: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    let found = known.get(text);
    if (found === undefined) known.set(text, (found = of(text)));
    return found;
  };
}

/** What the policy sampled is the agent's; the template's glue counts with the message that it wraps. */
function roleOf(node: TrajectoryNode, at: number): TokenRole {
  if (node.actionMask[at] === 1) return 'agent';
  return node.message.role === 'tool' ? 'observation' : 'prompt';
}

function firstIndices(nodes: readonly TrajectoryNode[]): Map<TrajectoryNode, number> {
  const first = new Map<TrajectoryNode, number>();
  let next = 0;
  for (const node of nodes) {
    first.set(node, next);
    next += node.tokenIds.length;
  }
  return first;
}

/** Longest run of tokens that one character of UTF-8 can be spread over. */
const longestSplit = 4;
const replacement = '\ufffd';

/**
 * Tokens with their text; those that only together make whole characters are one group. Bytes that never make a
 * character stand as `\xNN`.
 */
export function groupTokens(
  tokenIds: ArrayLike<number>,
  codec: Decoder,
): { readonly text: string; readonly texts: readonly string[] }[] {
  const ids = Array.from(tokenIds);
  const texts = codec.tokenTexts(ids);
  const groups: { text: string; texts: string[] }[] = [];
  for (let i = 0; i < ids.length;) {
    const size = splitCharacter(ids, texts, i, codec);
    const members = texts.slice(i, i + Math.max(size, 1));
    groups.push({ text: size > 1 ? codec.decode(ids.slice(i, i + size)) : texts[i], texts: members });
    i += members.length;
  }
  return groups;
}

/** How many tokens from `first` on make whole characters only together; 0 where they do not. */
function splitCharacter(ids: readonly number[], texts: readonly string[], first: number, codec: Decoder): number {
  if (!/\\x[0-9A-F]{2}/.test(texts[first]) || codec.decode([ids[first]]) === texts[first]) return 0;
  for (let size = 2; size <= longestSplit && first + size <= ids.length; size++) {
    if (!codec.decode(ids.slice(first, first + size)).includes(replacement)) return size;
  }
  return 0;
}

function titleOf({ taskId, sample, kind, step, grade, infrastructureError }: Trajectory): string {
  const outcome = infrastructureError !== null ? t('machine error') : grade?.resolved ? t('solved') : t('failed');
  const reward = grade ? t('reward {0}', grade.reward.toFixed(2)) : t('no reward');
  return `━━ ${taskId} · ${t('{0} {1} of step {2}', kindWord(kind), sample + 1, step)} · ${outcome} · ${reward} ━━`;
}

/** Why the policy was shown its history anew. */
const shownAnewWords: Readonly<Record<BranchReason, () => string>> = {
  template: () => t('the chat template renders it otherwise than it was stored'),
  window: () => t('older observations are left out'),
  summary: () => t('for a summary, or from one on'),
};

function headerOf({ message, branch }: TrajectoryNode, turn: number): string {
  if (branch !== undefined) return `── ${t('history shown anew')} · ${shownAnewWords[branch]()} ──`;
  switch (message.role) {
    case 'assistant':
      if (!isTurn(message)) return `── ${t('agent')} · ${t('summary of its progress')} ──`;
      return `── ${t('turn {0}', turn)} · ${t('agent')} · ${turnLabel(message).action} ──`;
    case 'tool':
      return `── ${t('turn {0}', turn)} · ${t('observation')} · ${message.name} ──`;
    default:
      return `── ${message.role} ──`;
  }
}

/** Longer documents the editor keeps from its extensions; a token of a hostile tokenizer may be a megabyte, a thousand times. */
const mostCharacters = 40e6;

/** Text that grows, with its count of lines. Throws bad-input where it becomes too long. */
class Page {
  private parts: string[] = [];
  length = 0;
  /** Whole lines so far. */
  lines = 0;
  private atLineStart = true;

  get text(): string {
    return this.parts.join('');
  }

  add(text: string): void {
    if (text === '') return;
    this.parts.push(text);
    this.length += text.length;
    if (this.length > mostCharacters) {
      const remedy = t('`whetstone mask` prints its tokens.');
      throw badInput(t('This trajectory has more text than an editor can show.'), remedy);
    }
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.lines += 1;
    this.atLineStart = text.endsWith('\n');
  }

  line(text: string): void {
    this.add(`${plainLine(text)}\n`);
  }

  endLine(): void {
    if (!this.atLineStart) this.add('\n');
  }
}

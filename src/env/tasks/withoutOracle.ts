import { structuredPatch } from 'diff';
import { posix } from 'node:path';
import type { FileChange } from '../workspace/workspace.js';

/** Shorter pieces of code stand in every program. */
const TELLING_CHARACTERS = 5;
const CUT = '…';

/**
 * A failure's message without what leads to the oracle: paths of the changed files, places in them, and lines of code
 * that were changed. Places in test files stay. (Whoever runs the tests sees a stack with places in the source; the
 * statement tells what fails and leaves that to do.)
 */
export function withoutOracle(message: string, changes: readonly FileChange[]): string {
  const texts = changes.flatMap(changedLines).sort((a, b) => b.length - a.length);
  const withoutCode = texts.reduce((told, text) => told.split(text).join(CUT), message);
  return changes.reduce((told, { path }) => told.replace(placesIn(path), CUT), withoutCode);
}

/** The path, relative or absolute, with what follows of line and column; its name alone only with a line. */
function placesIn(path: string): RegExp {
  const exact = (text: string) => text.split('/').map(escaped).join('[\\\\/]');
  const position = '(?:", line \\d+|:\\d+(?::\\d+)?|\\(\\d+(?:,\\d+)?\\))';
  const full = `(?:[^\\s"'(<]*[\\\\/])?${exact(path)}${position}?`;
  const name = `(?:[^\\s"'(<]*[\\\\/])?${exact(posix.basename(path))}${position}`;
  return new RegExp(`(?<![\\p{L}\\p{N}_.-])(?:${full}|${name})(?![\\p{L}\\p{N}_])`, 'gu');
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Lines of the sound and of the broken text that differ, as they are written. */
function changedLines({ path, before, after }: FileChange): string[] {
  const { hunks } = structuredPatch(path, path, before ?? '', after ?? '', undefined, undefined, { context: 0 });
  return hunks
    .flatMap(({ lines }) => lines)
    .filter((line) => /^[+-]/.test(line))
    .map((line) => line.slice(1).trim())
    .filter((line) => line.length >= TELLING_CHARACTERS);
}

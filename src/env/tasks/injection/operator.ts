import type { Language, ParsedSource } from './parsing.js';

/** A place in a source file and the text that breaks it. `start` and `end` are UTF-16 indexes, end exclusive. */
export interface BugSite {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** For people who look at a task, e.g. `< becomes <=`. Never shown to the policy. */
  readonly description: string;
}

/** A kind of bug. `sites` lists every place in a file where it can strike, in the order of the file. */
export interface BugOperator {
  readonly name: string;
  readonly languages: readonly Language[];
  sites(source: ParsedSource): BugSite[];
}

export const ECMASCRIPT: readonly Language[] = ['javascript', 'typescript', 'tsx'];
/** A file that does not type-check is never run in these. */
export const COMPILED: readonly Language[] = ['go', 'rust', 'java'];
export const ALL_LANGUAGES: readonly Language[] = [...ECMASCRIPT, 'python', ...COMPILED];

export const isCompiled = ({ language }: ParsedSource) => COMPILED.includes(language);

export const bySite = (a: BugSite, b: BugSite) => a.start - b.start;

/** The source with the bug in. */
export function applySite(text: string, site: BugSite): string {
  return text.slice(0, site.start) + site.replacement + text.slice(site.end);
}

/** Number of the site's line, counted from 1. */
export function lineOf(text: string, site: BugSite): number {
  return text.slice(0, site.start).split('\n').length;
}

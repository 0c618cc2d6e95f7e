import { z } from 'zod';
import { languageOf, parseSource, type Language } from '../tasks/injection/parsing.js';
import { namedFunctions, smallChanges, type SmallChange } from '../tasks/injection/repairs.js';
import { cutLine } from './normalize.js';
import { splitLines } from './open.js';
import { startText } from './startText.js';
import { defineTool } from './tool.js';

const SHOWN_CHANGES = 24;
const SHOWN_FUNCTIONS = 30;
const LINE_CHARACTERS = 100;
const CHANGE_CHARACTERS = 60;
/** Parsing and searching a longer file would keep others waiting. */
const longestText = 200_000;

export const suggest = defineTool({
  name: 'suggest',
  description:
    'List small changes of a function that may mend a bug, with the numbers that `choose` takes (from `line` on where given). A name that is none, as `?`, lists the functions.',
  arguments: z.strictObject({ path: z.string().min(1), name: z.string().min(1), line: z.int().min(1).optional() }),
  async execute({ path, name, line }, { workspace }) {
    const file = await startText(workspace, path);
    return 'problem' in file ? file.problem : renderSuggestions(file.path, file.text, name, line);
  },
});

/** The changes within the functions of that name, numbered from 1 by their place here; or why there are none. */
export function suggestionsOf(
  path: string,
  text: string,
  name: string,
): readonly SmallChange[] | { readonly problem: string } {
  const language = languageOf(path);
  if (language === null) return { problem: `No suggestions for ${path}: its language is not known.` };
  if (text.length > longestText) return { problem: `No suggestions for ${path}: it is too long.` };
  const { functions, changes } = analysisOf(language, text);
  const named = functions.filter((one) => one.name === name);
  if (named.length === 0) return { problem: renderNoFunction(path, functions, name) };
  return changes.filter(({ site }) => named.some(({ start, end }) => start <= site.start && site.end <= end));
}

/** A named function's place in its file, as UTF-16 indexes, `end` exclusive. */
export interface FunctionPlace {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** The named functions around a place of a file, outermost first; none where its language is not known. */
export function functionsAround(path: string, text: string, index: number): readonly FunctionPlace[] {
  const language = languageOf(path);
  if (language === null || text.length > longestText) return [];
  return analysisOf(language, text).functions.filter(({ start, end }) => start <= index && index < end);
}

/** What suggestions need of a file, without its syntax tree. */
interface Analysis {
  readonly functions: readonly FunctionPlace[];
  readonly changes: readonly SmallChange[];
}

/** Those of the last texts: a policy asks for the changes of one file again and again. */
const analyses = new Map<string, Analysis>();
const keptAnalyses = 16;

function analysisOf(language: Language, text: string): Analysis {
  const key = `${language} ${text}`;
  const known = analyses.get(key);
  if (known !== undefined) return known;
  const source = parseSource(text, language);
  const functions = namedFunctions(source).map(({ name, node }) => ({
    name,
    start: node.startIndex,
    end: node.endIndex,
  }));
  const analysis = { functions, changes: smallChanges(source) };
  const [oldest] = analyses.keys();
  if (analyses.size >= keptAnalyses && oldest !== undefined) analyses.delete(oldest);
  analyses.set(key, analysis);
  return analysis;
}

/** Each line that has changes, with its number, and below it what each does, with the change's number behind it. */
export function renderSuggestions(path: string, text: string, name: string, from = 1): string {
  const changes = suggestionsOf(path, text, name);
  if ('problem' in changes) return changes.problem;
  const lines = splitLines(text);
  const listed = changes.map((change, index) => ({ ...change, number: index + 1 })).filter(({ line }) => line >= from);
  const shown = listed.slice(0, SHOWN_CHANGES);
  const next = listed.at(SHOWN_CHANGES);
  return [
    `${path}, ${name} (${changes.length} ${changes.length === 1 ? 'change' : 'changes'})`,
    ...shown.flatMap(({ line, site, number }, index) => [
      ...(shown[index - 1]?.line === line ? [] : [`${line}: ${cutLine(lines[line - 1] ?? '', LINE_CHARACTERS)}`]),
      `  ${cutLine(site.description.replace(/\s+/g, ' '), CHANGE_CHARACTERS)} (${number})`,
    ]),
    ...(next === undefined ? [] : [`(+${listed.length - SHOWN_CHANGES} more, from line ${next.line})`]),
  ].join('\n');
}

/** The line from which on a list goes on; null where it is whole. */
export function nextLine(list: string): number | null {
  const found = /\(\+\d+ more, from line (\d+)\)$/.exec(list);
  return found === null ? null : Number(found[1]);
}

function renderNoFunction(path: string, functions: Analysis['functions'], name: string): string {
  const names = [...new Set(functions.map((one) => one.name))];
  const more = names.length - SHOWN_FUNCTIONS;
  const known = names.length === 0 ? 'none has a name' : names.slice(0, SHOWN_FUNCTIONS).join(', ');
  return `No function "${cutLine(name, CHANGE_CHARACTERS)}" in ${path}. Functions: ${known}${more > 0 ? `, (+${more} more)` : ''}.`;
}

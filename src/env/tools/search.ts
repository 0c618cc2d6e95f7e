import { z } from 'zod';
import { cutLine } from './normalize.js';
import { splitLines } from './open.js';
import { textFiles } from './textFiles.js';
import { resolveInTree } from './treeFiles.js';
import { defineTool } from './tool.js';

const SHOWN_HITS = 10;
const LINE_CHARACTERS = 160;

export interface SearchHit {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export const search = defineTool({
  name: 'search',
  description: 'Find a literal text in the files of the repository, or under `path`.',
  arguments: z.strictObject({ query: z.string().min(1), path: z.string().optional() }),
  async execute({ query, path }, { workspace, isTestFile, signal }) {
    const place = await resolveInTree(workspace, path || '.');
    if ('problem' in place) return place.problem;
    if (place.kind === 'nothing') return `No file "${place.path}".`;
    const sources: SearchHit[] = [];
    const tests: SearchHit[] = [];
    for await (const file of textFiles(place)) {
      if (signal?.aborted) break;
      (isTestFile(file.path) ? tests : sources).push(...findInText(file.path, file.text, query));
    }
    const hits = [...sources, ...tests];
    const ignored = await workspace.ignored([...new Set(hits.map((hit) => hit.path))]);
    return renderSearch(
      query,
      hits.filter((hit) => !ignored.has(hit.path)),
    );
  },
});

/** One hit for each line that holds `query` (case counts). A query of several lines hits where it begins. */
export function findInText(path: string, text: string, query: string): SearchHit[] {
  const lines = splitLines(text);
  const [first, ...rest] = query.split(/\r\n|\n|\r/);
  const matches = (index: number) =>
    rest.length === 0
      ? lines[index].includes(first)
      : lines[index].endsWith(first) &&
        rest.every((line, i) =>
          i < rest.length - 1 ? lines[index + i + 1] === line : lines[index + i + 1]?.startsWith(line),
        );
  return lines.flatMap((line, index) => (matches(index) ? [{ path, line: index + 1, text: line }] : []));
}

/** `src/a.js:12: text` for the first hits; blank space around the text is left out. */
export function renderSearch(query: string, hits: readonly SearchHit[]): string {
  if (hits.length === 0) return `No match for "${cutLine(query, LINE_CHARACTERS)}".`;
  const more = hits.length - SHOWN_HITS;
  return [
    ...hits.slice(0, SHOWN_HITS).map((hit) => `${hit.path}:${hit.line}: ${cutLine(hit.text.trim(), LINE_CHARACTERS)}`),
    ...(more > 0 ? [`(+${more} more)`] : []),
  ].join('\n');
}

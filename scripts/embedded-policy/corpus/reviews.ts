import {
  countSyntaxErrors,
  languageOf,
  parseSource,
  type SyntaxNode,
} from '../../../src/env/tasks/injection/parsing.js';
import { renderEdit } from '../../../src/env/tools/edit.js';
import { renderOpen } from '../../../src/env/tools/open.js';
import { systemPrompt } from '../../../src/env/tools/prompts.js';
import { SUBMITTED } from '../../../src/env/tools/submit.js';
import { toolSchemas } from '../../../src/env/tools/tools.js';
import type { ExpertEpisode } from '../episodes/episode.js';
import { lineEdit } from '../episodes/lineEdit.js';
import { thinking, thoughtOf, toolCall } from '../episodes/turnText.js';
import { HARD, randomMutation } from '../episodes/variants.js';
import { invented, NOUNS } from '../programs/names.js';
import type { Rng } from '../programs/rng.js';
import type { CorpusFile } from './permissive.js';

/**
 * Episodes without tests on code that people wrote: some functions of a real file, one bug by the product's operators,
 * and the request to find it in a function named. They teach what code mostly looks like, and to quote it.
 */
export function reviewEpisodes(rng: Rng, file: CorpusFile, wanted: number): ExpertEpisode[] {
  const language = languageOf(file.path);
  if (language === null) return [];
  const functions = functionsOf(file);
  const episodes: ExpertEpisode[] = [];
  for (let attempt = 0; attempt < wanted * 2 && episodes.length < wanted && functions.length > 0; attempt += 1) {
    const chosen = rng.shuffle(functions).slice(0, rng.pick([1, 1, 2, 2, 3]));
    const source = chosen.map(({ text }) => text).join('\n\n') + '\n';
    if (source.length > 1500 || countSyntaxErrors(parseSource(source, language).root) > 0) continue;
    const bug = randomMutation(rng, file.path, source);
    const repair = bug === null ? null : lineEdit(bug.source, source);
    if (bug === null || HARD.has(bug.operator) || repair === null || repair.old.length + repair.new.length > 260)
      continue;
    const name = nameAt(chosen, bug.line);
    if (name === null) continue;
    const extension = /\.\w+$/.exec(file.path)![0];
    const path = `${rng.pick(['src/', 'lib/', 'src/', '', 'source/'])}${rng.chance(0.4) ? invented(rng) : rng.pick(NOUNS)}${extension}`;
    episodes.push({
      language,
      operator: bug.operator,
      system: systemPrompt(toolSchemas),
      user: rng.pick([
        `Review ${name} in ${path}: it has a bug. Fix it.`,
        `There is a bug in ${path}, in ${name}. Find it and fix it.`,
      ]),
      turns: [
        {
          raw: toolCall('open', { path }),
          train: true,
          observations: [{ name: 'open', content: renderOpen(path, bug.source) }],
        },
        {
          raw: thinking(thoughtOf(name, repair)) + toolCall('edit', { path, old: repair.old, new: repair.new }),
          train: true,
          observations: [{ name: 'edit', content: renderEdit(path, bug.source, source) }],
        },
        { raw: toolCall('submit', {}), train: true, observations: [{ name: 'submit', content: SUBMITTED }] },
      ],
    });
  }
  return episodes;
}

interface NamedFunction {
  readonly name: string;
  readonly text: string;
}

/** Functions of 4 to 18 lines that stand at the top of the file, and methods of classes. */
function functionsOf(file: CorpusFile): NamedFunction[] {
  const language = languageOf(file.path)!;
  const { root } = parseSource(file.text, language);
  if (root.hasError) return [];
  const nodes = root.descendantsOfType(['function_declaration', 'function_definition', 'lexical_declaration']);
  return nodes.flatMap((node: SyntaxNode) => {
    const top =
      node.parent?.type === 'program' || node.parent?.type === 'module' || node.parent?.type === 'export_statement';
    const name =
      node.childForFieldName('name')?.text ??
      /^(?:const|let) (\w+) = (?:async )?(?:\(|\w+ =>|function)/.exec(node.text)?.[1];
    const text = (
      node.parent?.type === 'export_statement' && !/default/.test(node.parent.text.slice(0, 16)) ? node.parent : node
    ).text;
    const lines = text.split('\n');
    if (!top || name === undefined || lines.length < 4 || lines.length > 18 || lines.some((line) => line.length > 110))
      return [];
    return [{ name, text }];
  });
}

function nameAt(functions: readonly NamedFunction[], line: number): string | null {
  let first = 1;
  for (const { name, text } of functions) {
    const count = text.split('\n').length;
    if (line >= first && line < first + count) return name;
    first += count + 1;
  }
  return null;
}

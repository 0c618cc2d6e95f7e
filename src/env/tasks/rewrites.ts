import { say } from '../../trajectory/said.js';
import type { FileChange } from '../workspace/workspace.js';
import { languageOf, parseSource, type SyntaxNode } from './injection/parsing.js';

/** A change that does the same as the oracle and is written in another way. */
export interface Rewrite {
  readonly name: string;
  readonly changes: readonly FileChange[];
}

/** Equivalents of the oracle: a grader that is just gives them what it gives the oracle. */
export function equivalentRewrites(oracle: readonly FileChange[]): Rewrite[] {
  const each = (name: string, rewrite: (text: string, path: string) => string | null): Rewrite[] => {
    const changes = oracle.map((change) => {
      const after = change.after === null ? null : rewrite(change.after, change.path);
      return after === null ? change : { ...change, after };
    });
    return changes.some((change, index) => change.after !== oracle[index].after) ? [{ name, changes }] : [];
  };
  return [
    ...each(say`the oracle with a comment and a blank line`.message, withComment),
    ...each(say`the oracle with a local variable renamed`.message, withRenamedLocal),
  ];
}

function withComment(text: string, path: string): string | null {
  const language = languageOf(path);
  if (language === null) return null;
  return `${text}${text.endsWith('\n') ? '' : '\n'}\n${language === 'python' ? '#' : '//'} Nothing but a comment.\n`;
}

/** Declarations of a local variable, by the kinds of their nodes, with the field that holds its name. */
const DECLARATIONS: Readonly<Record<string, string>> = {
  variable_declarator: 'name',
  assignment: 'left',
  short_var_declaration: 'left',
  let_declaration: 'pattern',
};
const FUNCTIONS = /^(function_declaration|function_definition|method_definition|function_item|method_declaration)$/;
/** Identifiers that name something else than a variable, or both at once. */
const OTHER_NAMES =
  /^(property_identifier|field_identifier|shorthand_\w+|shorthand_property_identifier_pattern|type_identifier)$/;

/** Renames the first variable that is safe to: declared in a function, and in no nested one or as anything else. */
function withRenamedLocal(text: string, path: string): string | null {
  const language = languageOf(path);
  if (language === null || /\b(eval|locals|globals|exec|vars|with)\s*\(/.test(text)) return null;
  const { root } = parseSource(text, language);
  for (const body of descendants(root).filter((node) => FUNCTIONS.test(node.type))) {
    for (const declaration of descendants(body)) {
      const field = DECLARATIONS[declaration.type];
      const name = field === undefined ? null : declaration.childForFieldName(field);
      if (name?.type !== 'identifier' || `${name.text}_renamed`.length < 10 || text.includes(`${name.text}_renamed`))
        continue;
      const places = placesOf(name.text, body);
      if (places === null || places.length !== countWord(name.text, text)) continue;
      return places.reduceRight(
        (result, { startIndex, endIndex }) =>
          `${result.slice(0, startIndex)}${name.text}_renamed${result.slice(endIndex)}`,
        text,
      );
    }
  }
  return null;
}

/** Where a function names a variable; null where the same word also stands for something else. */
function placesOf(name: string, body: SyntaxNode): SyntaxNode[] | null {
  const found = descendants(body).filter((node) => node.childCount === 0 && node.text === name);
  const isVariable = (node: SyntaxNode) =>
    node.type === 'identifier' &&
    !OTHER_NAMES.test(node.type) &&
    !/^(keyword_argument|global_statement|nonlocal_statement|parameters|formal_parameters|attribute)$/.test(
      node.parent?.type ?? '',
    );
  return found.every(isVariable) ? found : null;
}

/** How often a word stands anywhere in a text, comments and strings included: then nothing else can mean it. */
const countWord = (word: string, text: string) =>
  [...text.matchAll(new RegExp(`(?<![\\w$])${word.replaceAll('$', '\\$')}(?![\\w$])`, 'g'))].length;

function descendants(node: SyntaxNode): SyntaxNode[] {
  return [node, ...node.children.flatMap(descendants)];
}

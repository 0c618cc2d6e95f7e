import { countSyntaxErrors, parseSource, type Language, type SyntaxNode } from '../injection/parsing.js';

/**
 * Do two texts mean the same program, formatting and comments aside? Compared are the syntax trees with their tokens, not
 * the tokens alone: where lines end a statement, or indentation makes a block, white space is meaning. False where either
 * does not parse.
 */
export function haveSameTokens(before: string, after: string, language: Language): boolean {
  if (before === after) return true;
  const [a, b] = [before, after].map((text) => parseSource(text, language).root);
  return countSyntaxErrors(a) === 0 && countSyntaxErrors(b) === 0 && areEqual(tokens(a), tokens(b));
}

const areEqual = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((token, index) => token === b[index]);

/** The tree in order: inner nodes by their kind with a bracket on each side, leaves by their text; comments left out. */
function tokens(root: SyntaxNode): string[] {
  const found: string[] = [];
  const visit = (node: SyntaxNode): void => {
    if (/comment/.test(node.type)) return;
    if (node.childCount === 0) {
      found.push(node.text);
      return;
    }
    found.push(`${node.type}(`);
    for (const child of node.children) visit(child);
    found.push(')');
  };
  visit(root);
  return found;
}

import { createRequire } from 'node:module';
import { extname } from 'node:path';
import type Parser from 'tree-sitter';

export type Language = 'javascript' | 'typescript' | 'tsx' | 'python' | 'go' | 'rust' | 'java';
export type SyntaxNode = Parser.SyntaxNode;

/** A source file and its syntax tree. Every index into `text` is in UTF-16 units, as tree-sitter's binding gives them. */
export interface ParsedSource {
  readonly language: Language;
  readonly text: string;
  readonly root: SyntaxNode;
}

const LANGUAGE_OF_EXTENSION: Readonly<Record<string, Language>> = {
  '.js': 'javascript',
  '.cjs': 'javascript',
  '.mjs': 'javascript',
  '.jsx': 'javascript',
  '.ts': 'typescript',
  '.cts': 'typescript',
  '.mts': 'typescript',
  '.tsx': 'tsx',
  '.py': 'python',
  '.go': 'go',
  '.rs': 'rust',
  '.java': 'java',
};

/** The language that a path's extension names; null where no grammar is shipped for it. */
export function languageOf(path: string): Language | null {
  return LANGUAGE_OF_EXTENSION[extname(path).toLowerCase()] ?? null;
}

const parsers = new Map<Language, Parser>();

/** Native modules load on first use, so that importing this file costs nothing. */
function parserFor(language: Language): Parser {
  const known = parsers.get(language);
  if (known !== undefined) return known;
  const load = createRequire(import.meta.url);
  const ParserClass = load('tree-sitter') as typeof Parser;
  const parser = new ParserClass();
  parser.setLanguage(loadGrammar(load, language));
  parsers.set(language, parser);
  return parser;
}

/** The names of packages stay literal, so that a packager sees them. */
function loadGrammar(load: NodeJS.Require, language: Language): Parser.Language {
  switch (language) {
    case 'javascript':
      return load('tree-sitter-javascript') as Parser.Language;
    case 'python':
      return load('tree-sitter-python') as Parser.Language;
    case 'go':
      return load('tree-sitter-go') as Parser.Language;
    case 'rust':
      return load('tree-sitter-rust') as Parser.Language;
    case 'java':
      return load('tree-sitter-java') as Parser.Language;
    case 'typescript':
    case 'tsx':
      return (load('tree-sitter-typescript') as Record<'typescript' | 'tsx', Parser.Language>)[language];
  }
}

/**
 * Parses a file. The buffer is given the file's size: the binding's default of 32 KiB refuses or splits larger input,
 * and a split can fall inside a surrogate pair.
 */
export function parseSource(text: string, language: Language): ParsedSource {
  const tree = parserFor(language).parse(text, null, { bufferSize: 2 * text.length + 2 });
  return { language, text, root: tree.rootNode };
}

/** Number of ERROR and MISSING nodes in a tree. */
export function countSyntaxErrors(node: SyntaxNode): number {
  if (!node.hasError && !node.isMissing) return 0;
  const own = node.isError || node.isMissing ? 1 : 0;
  return node.children.reduce((sum, child) => sum + countSyntaxErrors(child), own);
}

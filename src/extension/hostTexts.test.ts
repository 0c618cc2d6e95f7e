import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

/** Properties that people read where the editor's interfaces have them. */
const readProperties = new Set([
  ...['label', 'description', 'detail', 'tooltip', 'title', 'placeHolder', 'placeholder', 'prompt', 'message'],
  ...['name', 'text', 'openLabel', 'saveLabel', 'ariaLabel', 'validationMessage', 'contentText'],
]);

/** Calls whose arguments nobody reads who has not opened the program: names of what is disposed of, keys, codes. */
const unreadCalls = new Set(['t', 'import', 'Lifetime', 'child', 'ChosenOrder', 'createTestController']);

/** Sources that talk with programs, over HTTP. */
const forPrograms = ['chatRequest.ts', 'modelEndpoint.ts'];

/** What is the same in every language, or no text at all. */
const fixed: readonly RegExp[] = [
  /^(Whetstone: )?$/,
  // Icons, and the program's name beside them.
  /^\$\([\w~-]+\) (Whetstone: )?$/,
  /^Whetstone$/,
  /^ [MG]iB$/,
  // Broken invariants are for those who mend the program.
  /^internal: /,
  // A page's frame, CSS, keys, and the words of the debug adapter protocol.
  /^<!DOCTYPE|^">|<\/title>/,
  /^underline (dotted|dashed)$/,
  /px sans-serif$/,
  /^(Arrow(Left|Right|Up|Down)|Home|Enter|Strong|Medium|Weak)$/,
  /^function breakpoint$/,
];

/** Two words beside one another, or a capital at the beginning: what a person would read. */
const looksLikeText = (text: string) => /[a-z]{2,}[,;:.)]* [(]?[a-z]{2,}/i.test(text) || /^\W*[A-Z][a-z]+/.test(text);

interface Found {
  readonly place: string;
  readonly text: string;
}

/** Texts in a source file that go out as they are, past `t`. */
export function untranslated(file: string, source: string): Found[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const found: Found[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isTypeNode(node)) return;
    if (ts.isTaggedTemplateExpression(node) && node.tag.getText(tree) === 'say') return;
    if ((ts.isCallExpression(node) || ts.isNewExpression(node)) && unreadCalls.has(nameOf(node.expression))) return;
    for (const text of textsOf(node)) {
      if (fixed.some((one) => one.test(text))) continue;
      if (!(isRead(node) ? /[a-z]{2}/i.test(text) : looksLikeText(text)) || isIdentifier(node)) continue;
      const { line } = tree.getLineAndCharacterOfPosition(node.getStart(tree));
      found.push({ place: `${file}:${line + 1}`, text });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

function nameOf(callee: ts.Expression): string {
  if (callee.kind === ts.SyntaxKind.ImportKeyword) return 'import';
  if (ts.isPropertyAccessExpression(callee)) return callee.name.text;
  return ts.isIdentifier(callee) ? callee.text : '';
}

function textsOf(node: ts.Node): readonly string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (!ts.isTemplateExpression(node)) return [];
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)];
}

/** Whether a literal, alone or as a branch of a choice, is what a property that people read is set to. */
function isRead(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isConditionalExpression(parent) || ts.isParenthesizedExpression(parent)) return isRead(parent);
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node && readProperties.has(parent.name.getText());
  return (
    ts.isBinaryExpression(parent) &&
    parent.operatorToken.kind === ts.SyntaxKind.EqualsToken &&
    ts.isPropertyAccessExpression(parent.left) &&
    readProperties.has(parent.left.name.text)
  );
}

/** Names that other parts of the program know: keys of objects, what something is compared with, indices. */
const isIdentifier = ({ parent }: ts.Node): boolean =>
  (ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.EqualsEqualsEqualsToken) ||
  ts.isElementAccessExpression(parent) ||
  ts.isCaseClause(parent);

const sources = readdirSync('src/extension', { recursive: true, encoding: 'utf8' })
  .filter(
    (file) => file.endsWith('.ts') && !/\.(test|testing)\.ts$/.test(file) && !forPrograms.includes(path.basename(file)),
  )
  .map((file) => path.join('src/extension', file));

describe('texts that the editor shows', () => {
  it('all go through the translations', () => {
    expect(sources.flatMap((file) => untranslated(file, readFileSync(file, 'utf8')))).toEqual([]);
  });

  it.each([
    ["void vscode.window.showInformationMessage('No run yet.')", 'No run yet.'],
    ['show(`Whetstone: ${n} tasks of ${m}`)', ' tasks of '],
    ["const item = { label: 'solved' }", 'solved'],
    ["item.tooltip = isHere ? t('here') : 'elsewhere'", 'elsewhere'],
    ["throw badInput('Nothing is changed there.', t('Look again.'))", 'Nothing is changed there.'],
  ])('are found where they do not: %s', (source, text) => {
    expect(untranslated('file.ts', source)).toEqual([{ place: 'file.ts:1', text }]);
  });

  it.each([
    "void vscode.window.showInformationMessage(t('No run yet.'))",
    'notify(ofEngine(say`Training on ${name} failed.`))',
    "const lifetime = new Lifetime('doctor view')",
    "if (node.kind === 'Something Else') work(`$(flame) Whetstone: ${text}`)",
    "import { x } from './Some where.js'",
  ])('are not seen where there is none: %s', (source) => expect(untranslated('file.ts', source)).toEqual([]));
});

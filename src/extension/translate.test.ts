import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { battery } from '../env/tasks/exploits/battery.js';
import { runnersSchema } from '../env/testing/configured/runnersConfig.js';
import { settingsSchema } from '../trainer/run/settings.js';
import { say } from '../trajectory/said.js';
import { ofEngine, t, useTranslations } from './translate.js';

const languages = ['zh-cn'];
const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;

const sourcesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.(test|testing)\.ts$/.test(file))
    .map((file) => path.join(folder, file));

/** What the nodes of a source say, those in which `textsOf` finds something. */
function textsIn(
  file: string,
  isLookedAt: (source: string) => boolean,
  textsOf: (node: ts.Node) => readonly ts.Node[],
) {
  const source = readFileSync(file, 'utf8');
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    for (const text of textsOf(node)) {
      if (!ts.isStringLiteralLike(text))
        throw new Error(`${file}: what is translated must be written out: ${text.getText()}`);
      texts.push(text.text);
    }
    if (ts.isTaggedTemplateExpression(node) && node.tag.getText() === 'say') texts.push(templateOf(node.template));
    ts.forEachChild(node, visit);
  };
  if (isLookedAt(source)) visit(ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true));
  return texts.filter((text) => text !== '' && !text.startsWith('internal: '));
}

/** As `say` makes it. */
const templateOf = (literal: ts.TemplateLiteral): string =>
  ts.isNoSubstitutionTemplateLiteral(literal)
    ? literal.text
    : literal.templateSpans.reduce(
        (text, { literal: { text: part } }, at) => `${text}{${at}}${part}`,
        literal.head.text,
      );

/** Texts that the extension's sources hand to `t`. */
const textsOfExtension = () =>
  sourcesIn('src/extension').flatMap((file) =>
    textsIn(
      file,
      (source) => source.includes('translate.js'),
      (node) =>
        ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 't'
          ? node.arguments.slice(0, 1)
          : [],
    ),
  );

/** What makes an error of a message and a remedy; the class has its kind before them. */
const errorMakers = new Set(['badInput', 'failed', 'infrastructure', 'cancelled']);

/** Message and remedy of an error that is made here. */
function wordsOfError(node: ts.Node): readonly ts.Node[] {
  if (ts.isNewExpression(node) && node.expression.getText() === 'WhetstoneError') {
    return (node.arguments ?? []).slice(1, 3).flatMap(writtenOut);
  }
  return ts.isCallExpression(node) && errorMakers.has(node.expression.getText())
    ? node.arguments.slice(0, 2).flatMap(writtenOut)
    : [];
}

/** Literals in a text's place, with a tag none; what comes from elsewhere is a Said, or another's words. */
function writtenOut(text: ts.Expression): readonly ts.Node[] {
  if (ts.isConditionalExpression(text)) return [text.whenTrue, text.whenFalse].flatMap(writtenOut);
  if (ts.isBinaryExpression(text)) return [text.left, text.right].flatMap(writtenOut);
  if (ts.isIdentifier(text)) return constantOf(text).flatMap(writtenOut);
  return ts.isStringLiteralLike(text) || ts.isTemplateExpression(text) ? [text] : [];
}

/** What the constants of this name in this file are. */
function constantOf(identifier: ts.Identifier): readonly ts.Expression[] {
  const found: ts.Expression[] = [];
  const visit = (child: ts.Node): void => {
    if (ts.isVariableDeclaration(child) && child.name.getText() === identifier.text && child.initializer)
      found.push(child.initializer);
    ts.forEachChild(child, visit);
  };
  visit(identifier.getSourceFile());
  return found;
}

/** What the engine says: with `say`, in its errors, or in fields that `ofEngine` is given. */
function textsOfEngine(): string[] {
  const files = ['src/trainer', 'src/env', 'src/cli', 'src/interop', 'src/trajectory'].flatMap(sourcesIn);
  const texts = files.flatMap((file) => {
    const fields = /Detectors?\.ts$/.test(file) ? ['causes', 'remedy'] : [];
    return textsIn(
      file,
      (source) => fields.length > 0 || /(said|errors)\.js/.test(source),
      (node) => {
        if (!ts.isPropertyAssignment(node) || !fields.includes(node.name.getText())) return wordsOfError(node);
        return ts.isArrayLiteralExpression(node.initializer) ? node.initializer.elements : [node.initializer];
      },
    );
  });
  const meanings = [settingsSchema.shape, runnersSchema.element.shape].flatMap((shape) =>
    Object.values(shape).map(({ description }) => description ?? ''),
  );
  return [...texts, 'Cancelled.', ...battery.map(({ name }) => name), ...meanings.filter((text) => text !== '')];
}

/** Settings, commands and options that a text names. */
const named = (text: string) => [...text.matchAll(/`[^`]+`/g)].map(([each]) => each).sort();
const placeholders = (text: string) => [...text.matchAll(/\{\d+\}/g)].map(([each]) => each).sort();
/** What a text runs when it is clicked. */
const links = (text: string) => [...text.matchAll(/\]\((command:[^)]*)\)/g)].map(([, target]) => target);

describe('translations', () => {
  afterEach(() => useTranslations({}));

  it('fill in the values where the language puts them, and nothing in the values', () => {
    expect(t('{0} of {1}', 1, '{0}')).toBe('1 of {0}');
    useTranslations({ '{0} of {1}': '{1} 中的 {0}' });
    expect(t('{0} of {1}', 1, 2)).toBe('2 中的 1');
  });

  it('are those of every copy of the module: the engine is a bundle of its own', async () => {
    useTranslations({ task: '任务' });
    vi.resetModules();
    const { t: ofEngine } = await import('./translate.js');
    expect(ofEngine).not.toBe(t);
    expect(ofEngine('task')).toBe('任务');
  });

  it('say what the engine says: by its template where values are filled in, as it stands where nobody translated it', () => {
    const files = 3;
    expect(ofEngine(say`${files} files of ${'{0}'}`)).toBe('3 files of {0}');
    useTranslations({ '{0} files of {1}': '{1} 的 {0} 个文件', 'Nothing is lost.': '什么都没丢。' });
    expect(ofEngine(say`${files} files of ${'{0}'}`)).toBe('{0} 的 3 个文件');
    expect(ofEngine(say`Nothing is lost.`)).toBe('什么都没丢。');
    expect(ofEngine({ message: '3 files of a' })).toBe('3 files of a');
    useTranslations({ '{0} of {1}': '{1} 的 {0}', 'no file': '没有文件' });
    expect(ofEngine(say`${say`no file`} of ${say`${'a'} of ${'b'}`}`)).toBe('b 的 a 的 没有文件');
  });

  it.each(languages)('in %s know every text of the sources, and no others', (language) => {
    const bundle = readJson(`l10n/bundle.l10n.${language}.json`);
    const ofTheEngine = textsOfEngine();
    expect(Object.keys(bundle).sort()).toEqual([...new Set([...textsOfExtension(), ...ofTheEngine])].sort());
    for (const [text, translated] of Object.entries(bundle)) {
      expect(placeholders(translated), text).toEqual(placeholders(text));
    }
    // Settings and commands of the command line have one name.
    for (const text of ofTheEngine) expect(named(bundle[text]), text).toEqual(named(text));
  });

  it.each(languages)('in %s know every text of the manifest, with the same links, and no others', (language) => {
    const manifest = readFileSync('package.json', 'utf8');
    const keys = [...new Set([...manifest.matchAll(/"%([\w.-]+)%"/g)].map(([, key]) => key))].sort();
    const [english, other] = [readJson('package.nls.json'), readJson(`package.nls.${language}.json`)];
    expect(Object.keys(english).sort()).toEqual(keys);
    expect(Object.keys(other).sort()).toEqual(keys);
    for (const key of keys) expect(links(other[key]), key).toEqual(links(english[key]));
  });
});

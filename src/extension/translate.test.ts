import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { t, useTranslations } from './translate.js';

const languages = ['zh-cn'];
const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;

/** Texts that the sources hand to `t`. */
function textsInSources(): string[] {
  const files = readdirSync('src/extension', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => path.join('src/extension', file));
  const texts = new Set<string>();
  for (const file of files) {
    const visit = (node: ts.Node): void => {
      if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 't') {
        const [text] = node.arguments;
        if (!ts.isStringLiteralLike(text)) throw new Error(`${file}: what is translated must be written out.`);
        texts.add(text.text);
      }
      ts.forEachChild(node, visit);
    };
    const source = readFileSync(file, 'utf8');
    if (source.includes('translate.js')) visit(ts.createSourceFile(file, source, ts.ScriptTarget.Latest));
  }
  return [...texts].sort();
}

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

  it.each(languages)('in %s know every text of the sources, and no others', (language) => {
    const bundle = readJson(`l10n/bundle.l10n.${language}.json`);
    expect(Object.keys(bundle).sort()).toEqual(textsInSources());
    for (const [text, translated] of Object.entries(bundle)) {
      expect(placeholders(translated), text).toEqual(placeholders(text));
    }
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

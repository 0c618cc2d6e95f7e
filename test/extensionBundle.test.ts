import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it('the extension activates without the engine and without any package, which are a bundle of their own', () => {
  const sourcesOf = (bundle: string) => {
    const { sources } = JSON.parse(readFileSync(`dist/${bundle}.cjs.map`, 'utf8')) as { sources: string[] };
    return sources.filter((source) => /node_modules|src\/trainer\/(run\/runReader|background)/.test(source));
  };
  expect(sourcesOf('extension')).toEqual([]);
  expect(sourcesOf('engine')).not.toEqual([]);
  expect(readFileSync('dist/extension.cjs', 'utf8')).toContain('require("./engine.cjs")');
});

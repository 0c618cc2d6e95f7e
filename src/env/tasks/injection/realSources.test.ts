import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listFiles } from '../../testing/listFiles.js';
import { seededOrder } from '../seededOrder.js';
import { applySite } from './operator.js';
import { OPERATORS } from './operators/index.js';
import { countSyntaxErrors, languageOf, parseSource } from './parsing.js';
import { smallChanges } from './repairs.js';

const HOME = process.env.HOME ?? '/nowhere';
/** Where real sources may be found: this repository's own, its packages', and those of toolchains where they are installed. */
const FOLDERS = [
  ['this repository', 'src'],
  ['packages', 'node_modules/zod'],
  ['packages', 'node_modules/simple-git'],
  ['Python', '/usr/lib/python3/dist-packages'],
  ['Go', join(process.env.GOROOT ?? '/usr/local/go', 'src/strings')],
  ['Go', join(process.env.GOROOT ?? '/usr/local/go', 'src/net/url')],
  ['Rust', join(HOME, '.cargo/registry/src')],
].filter(([, folder]) => existsSync(folder));
const FILES_OF_A_FOLDER = 8;
const MAX_CHARACTERS = 60_000;

describe.each(FOLDERS)('bugs and small changes in the sources of %s (%s)', (_name, folder) => {
  it('leave files that parse as well as before', { timeout: 120_000 }, async () => {
    const paths = (await listFiles(folder)).filter((path) => languageOf(path) !== null && !path.endsWith('.d.ts'));
    const files = seededOrder(paths, 1, (path) => path)
      .slice(0, FILES_OF_A_FOLDER)
      .map((path) => ({ language: languageOf(path)!, text: readFileSync(join(folder, path), 'utf8') }))
      .filter(({ text }) => text.length < MAX_CHARACTERS);
    const sites = files.flatMap(({ language, text }) => {
      const source = parseSource(text, language);
      const errors = countSyntaxErrors(source.root);
      const bugs = OPERATORS.filter(({ languages }) => languages.includes(language)).flatMap((operator) =>
        operator.sites(source),
      );
      return [...bugs, ...smallChanges(source).map(({ site }) => site)].map((site) => ({ source, errors, site }));
    });
    if (sites.length === 0) return;
    fc.assert(
      fc.property(fc.constantFrom(...sites), ({ source, errors, site }) => {
        const broken = applySite(source.text, site);
        expect(broken).not.toBe(source.text);
        expect(countSyntaxErrors(parseSource(broken, source.language).root)).toBeLessThanOrEqual(errors);
      }),
      { numRuns: 250 },
    );
  });
});

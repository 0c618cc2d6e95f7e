import vm from 'node:vm';
import { stripTypes } from '../programs/javascriptProgram.js';
import type { Program } from '../programs/program.js';

/** Counts of a JavaScript module's tests, or null where they do not end, do not load or are not JavaScript. */
export interface QuickCount {
  readonly passed: number;
  readonly failed: number;
}

/**
 * Runs a module's tests in this process with a time limit: no observation comes from here, it only sorts out bugs that
 * hang or that no test notices before the real test runs.
 */
export function quickCount(program: Program, source: string): QuickCount | null {
  const plain = (text: string) =>
    text
      .replace(/^import .*$/gm, '')
      .replace(/^const .* = require\(.*\);?$/gm, '')
      .replace(/^(module\.exports = .*|export \{.*\};?)$/gm, '')
      .replace(/^export /gm, '');
  const script = `
    let passed = 0, failed = 0;
    const same = (a, b) => { if (JSON.stringify(a) !== JSON.stringify(b) || (a === undefined) !== (b === undefined) || Object.is(a, NaN) !== Object.is(b, NaN) || Object.is(a, -0) !== Object.is(b, -0)) throw new Error('x'); };
    const assert = { equal: same, strictEqual: same, deepEqual: same, deepStrictEqual: same,
      throws: (f, E) => { try { f(); } catch (e) { if (e instanceof E) return; throw e; } throw new Error('x'); } };
    const test = (name, f) => { try { f(); passed += 1; } catch { failed += 1; } };
    const it = test, describe = (name, f) => f();
    {
      ${plain(program.language === 'typescript' ? stripTypes(source.replace(/^export /gm, '')) : source)}
      ${plain(program.test)}
    }
    JSON.stringify({ passed, failed });`;
  try {
    return JSON.parse(vm.runInNewContext(script, {}, { timeout: 100 }) as string) as QuickCount;
  } catch {
    return null;
  }
}

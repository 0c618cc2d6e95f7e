import { describe, expect, it } from 'vitest';
import { isGradableJava } from './gradableJava.js';

const SOURCE = 'package demo;\n\npublic class Clamp {\n  static class Error {}\n}\n';
const grade = (changed: string, original = SOURCE, name = 'src/main/java/demo/Clamp.java') =>
  isGradableJava(name, original, changed);

describe('a changed Java source', () => {
  it('is graded where it declares no class that tests take from elsewhere', () => {
    const changed = `${SOURCE}\nclass Range { class String {} void Assert() {} }\n`;
    expect(grade(changed)).toBe(true);
    expect(grade('class Error {}', 'a', 'src/main/kotlin/A.kt')).toBe(true);
  });

  it.each([
    'class AssertionError extends RuntimeException {}',
    'interface Assertions {}',
    'enum Boolean {}',
    'record Integer() {}',
    '@interface Test {}',
  ])('is not graded with "%s" for its package', (declaration) => {
    expect(grade(`${SOURCE}\n${declaration}\n`)).toBe(false);
    expect(grade(`package demo;\npublic ${declaration}\n`, '')).toBe(false);
  });

  it('may keep the class that the original declares', () => {
    const original = `${SOURCE}\nclass Assert { int a; }\n`;
    expect(grade(original.replace('int a', 'int b'), original)).toBe(true);
  });
});

import { parseSource } from '../tasks/injection/parsing.js';

/** Classes of `java.lang` and of the frameworks that tests name without saying where they are from. */
const sharedNames = new Set([
  ...[
    'Object',
    'String',
    'Boolean',
    'Byte',
    'Character',
    'Short',
    'Integer',
    'Long',
    'Float',
    'Double',
    'Number',
    'Void',
  ],
  ...['Math', 'StrictMath', 'System', 'Class', 'Enum', 'Record', 'Thread', 'Runnable', 'Iterable', 'Comparable'],
  ...['CharSequence', 'StringBuilder', 'StringBuffer', 'AutoCloseable', 'Process', 'Runtime', 'Throwable', 'Error'],
  ...['Exception', 'RuntimeException', 'AssertionError', 'IllegalArgumentException', 'IllegalStateException'],
  ...['IndexOutOfBoundsException', 'ArrayIndexOutOfBoundsException', 'NullPointerException', 'ArithmeticException'],
  ...['ClassCastException', 'NumberFormatException', 'UnsupportedOperationException', 'InterruptedException'],
  ...['Override', 'Deprecated', 'SuppressWarnings', 'FunctionalInterface', 'SafeVarargs'],
  ...['Assert', 'Assertions', 'Assume', 'Assumptions', 'MatcherAssert', 'Matchers', 'Truth', 'Verify', 'Test'],
]);

/**
 * Can a changed Java source be graded? A class stands before those of `java.lang` and those
 * that tests import with `*` for all of its package, hence for the tests there, so that an `Assertions` or an
 * `AssertionError` of the source's own would take the place of theirs: then it cannot. What the original declares stays allowed.
 */
export function isGradableJava(name: string, original: string, changed: string): boolean {
  if (!name.endsWith('.java') || original === changed) return true;
  const before = new Set(declaredTypes(original));
  const isTaken = (type: string) => sharedNames.has(type) && !before.has(type);
  return !declaredTypes(changed).some(isTaken);
}

/** Names of the types that a file declares for its package. */
function declaredTypes(text: string): string[] {
  const { root } = parseSource(text, 'java');
  return root.namedChildren
    .filter(({ type }) => /^(class|interface|enum|record|annotation_type)_declaration$/.test(type))
    .flatMap((declaration) => declaration.childForFieldName('name')?.text ?? []);
}

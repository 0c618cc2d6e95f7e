import path from 'node:path';
import { parseSource, type SyntaxNode } from '../../tasks/injection/parsing.js';

/** Packages that lead out of the language: to any memory, to code in C, to code that was built elsewhere. */
const openPackages = new Set(['unsafe', 'C', 'plugin']);
/** Functions of `syscall` and `golang.org/x/sys/unix` that read and write any memory, of this process or another. */
const openFunctions = /^(Raw|RawV|AllThreads)?Syscall\w*$|^(Ptrace|PtracePoke|PtraceSet|ProcessVM)\w*$|^SYS_\w+$/;
const directive = /^\/\/(go:linkname|go:cgo_\w+|export)\b/;
/** Names of the language itself; without those that packages are known to declare. */
const predeclared = new Set([
  ...['true', 'false', 'nil', 'iota', 'any', 'error', 'bool', 'string', 'byte', 'rune', 'comparable', 'uintptr'],
  ...['int', 'int8', 'int16', 'int32', 'int64', 'uint', 'uint8', 'uint16', 'uint32', 'uint64'],
  ...['float32', 'float64', 'complex64', 'complex128', 'append', 'cap', 'complex', 'copy', 'delete', 'imag', 'len'],
  ...['make', 'new', 'panic', 'print', 'println', 'real', 'recover'],
]);
/** What Go builds beside its own sources. */
const native = /\.(s|S|sx|c|cc|cpp|cxx|m|h|hh|hpp|hxx|f|F|for|f90|swig|swigcxx|syso)$/;

/**
 * Can a changed source be graded? The tests of a package share its program, and code that
 * reaches any memory reaches those that record the results (`goTesting.ts`), as does code in C that runs before Go begins.
 * So a change may bring in no more than there was of `openPackages`, `openFunctions`, directives to the linker and
 * package-wide declarations that give a word of the language another meaning, which the tests would share; and no new file
 * in another language where there are Go sources (`folders`).
 * Not covered: a package that has sources in C may get a constructor there, and a program can read its own memory as a file.
 */
export function isGradableGo(name: string, original: string, changed: string, folders: ReadonlySet<string>): boolean {
  if (original === changed) return true;
  if (native.test(name)) return original !== '' || !folders.has(path.posix.dirname(name));
  if (!name.endsWith('.go')) return true;
  const before = new Map<string, number>();
  for (const word of tellingWords(original)) before.set(word, (before.get(word) ?? 0) + 1);
  for (const word of tellingWords(changed)) {
    const count = before.get(word) ?? 0;
    if (count === 0) return false;
    before.set(word, count - 1);
  }
  return true;
}

function tellingWords(text: string): string[] {
  const { root } = parseSource(text, 'go');
  const found: string[] = [];
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'import_spec') {
      const imported = node.childForFieldName('path')?.text.slice(1, -1) ?? '';
      if (openPackages.has(imported)) found.push(`import ${imported}`);
    } else if (node.type === 'comment') {
      const match = directive.exec(node.text);
      if (match) found.push(match[0]);
    } else if (/^(field_)?identifier$/.test(node.type) && openFunctions.test(node.text)) found.push(node.text);
    for (const child of node.namedChildren) visit(child);
  };
  visit(root);
  return [...found, ...declared(root).filter((name) => predeclared.has(name))];
}

/** Names that the package declares here for all of its files. */
function declared(root: SyntaxNode): string[] {
  return root.namedChildren.flatMap((declaration) => {
    const own = declaration.type === 'function_declaration' ? [declaration] : [];
    const kinds = ['const_spec', 'var_spec', 'type_spec', 'type_alias'];
    const specs = /^(const|var|type)_declaration$/.test(declaration.type)
      ? declaration.descendantsOfType(kinds).filter((spec) => !isInFunction(spec, declaration))
      : [];
    return [...own, ...specs].flatMap((each) => each.childrenForFieldName('name').map(({ text }) => text));
  });
}

/** `var f = func() { var len = 1 }` declares nothing for the package. */
function isInFunction(node: SyntaxNode, outermost: SyntaxNode): boolean {
  for (let at = node.parent; at && at.id !== outermost.id; at = at.parent) if (at.type === 'func_literal') return true;
  return false;
}

import type { Language } from '../injection/parsing.js';

/** What a file loads, as it says it: a module's name, or for Python a dotted one (with its leading dots). */
export function importsOf(text: string, language: Language): readonly string[] {
  switch (language) {
    case 'javascript':
    case 'typescript':
    case 'tsx':
      return matches(text, SCRIPT_IMPORT);
    case 'python':
      return pythonImports(text);
    case 'go':
      return goImports(text);
    case 'java':
      return matches(text, /^[ \t]*import\s+(?:static\s+)?([\w.]+)/gm);
    case 'rust':
      return matches(text, /\b([a-z_]\w*)::/g);
  }
}

/** `import 'x'`, `import … from 'x'`, `export … from 'x'`, `import('x')`, `require('x')`, `require.resolve('x')`, mocks by path. */
const SCRIPT_IMPORT =
  /(?:\bfrom\s*|\bimport\s*(?:\(\s*)?|\brequire(?:\.resolve)?\s*\(\s*|\b(?:jest|vi)\.\w+\s*\(\s*)['"`]([^'"`\n]+)['"`]/g;

function pythonImports(text: string): string[] {
  const names: string[] = [];
  for (const [, list] of text.matchAll(/^[ \t]*import[ \t]+([\w., \t]+)/gm)) {
    names.push(...list.split(',').map((part) => part.trim().split(/\s+/)[0]));
  }
  for (const [, module, one, many] of text.matchAll(
    /^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]+(?:\(([^)]*)\)|(.*))/gm,
  )) {
    names.push(module);
    const parts = (one ?? many).replace(/#.*$/gm, '').split(',');
    for (const part of parts.map((item) => item.trim().split(/\s+/)[0]).filter((item) => /^\w+$/.test(item))) {
      names.push(module.endsWith('.') ? module + part : `${module}.${part}`);
    }
  }
  return [...new Set(names)].filter((name) => name !== '');
}

function goImports(text: string): string[] {
  const blocks = [...text.matchAll(/^import\s*\(([\s\S]*?)^\)/gm)].map(([, block]) => block);
  const single = matches(text, /^import\s+(?:[\w.]+\s+)?"([^"]+)"/gm);
  return [...single, ...blocks.flatMap((block) => matches(block, /"([^"]+)"/g))];
}

const matches = (text: string, pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, name]) => name))];

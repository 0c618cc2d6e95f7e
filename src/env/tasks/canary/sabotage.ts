import type { Language } from '../injection/parsing.js';

const WORDS = 'whetstone canary: this file must not load';

/** The text, so changed that loading (or compiling) the file fails. */
export function sabotage(text: string, language: Language): string {
  switch (language) {
    case 'javascript':
    case 'typescript':
    case 'tsx':
      // A script's first line may start with `#!`, and only there.
      return text.replace(/^(#!.*\n)?/, `$1throw new Error('${WORDS}');\n`);
    case 'python':
      return `raise RuntimeError('${WORDS}')\n${text}`;
    case 'rust':
      return `compile_error!("${WORDS}");\n${text}`;
    case 'go':
    case 'java':
      return `${WORDS}\n${text}`;
  }
}

/**
 * Regular expression of a glob over paths with `/`: `*`, `**`, `?`, `[…]`, `{a,b}` and the extended `?(a|b)`, `@(a|b)`,
 * `*(a|b)`, `+(a|b)`. (Node's own matcher is not in Node 20.)
 */
export function globToRegExp(glob: string): RegExp {
  let source = '';
  let index = 0;
  const closers: string[] = [];
  while (index < glob.length) {
    const rest = glob.slice(index);
    const extended = /^[?*+@]\(/.exec(rest);
    if (extended) {
      closers.push(`)${rest[0] === '@' ? '' : rest[0]}`);
      source += '(?:';
      index += 2;
    } else if (rest.startsWith('**/')) {
      source += '(?:.*/)?';
      index += 3;
    } else if (rest.startsWith('**')) {
      source += '.*';
      index += 2;
    } else {
      source += one(rest, closers);
      index += bracketLength(rest);
    }
  }
  return new RegExp(`^${source}$`);
}

function one(rest: string, closers: string[]): string {
  const bracket = bracketLength(rest);
  if (bracket > 1) return rest.slice(0, bracket).replace(/^\[!/, '[^').replaceAll('\\', '\\\\');
  const character = rest[0];
  if (character === '*') return '[^/]*';
  if (character === '?') return '[^/]';
  if (character === '{' && rest.includes('}')) {
    closers.push('}');
    return '(?:';
  }
  const closer = closers[closers.length - 1];
  if (character === ',' && closer === '}') return '|';
  if (character === '|' && closer?.startsWith(')')) return '|';
  if (closer !== undefined && character === closer[0]) {
    closers.pop();
    return closer === '}' ? ')' : closer;
  }
  return character.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

function bracketLength(rest: string): number {
  const match = /^\[!?[^\]/]+\]/.exec(rest);
  return match ? match[0].length : 1;
}

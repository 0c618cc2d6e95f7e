/** Control and format characters (bidirectional and zero-width ones too) and Unicode's line breaks; not tab, newline. */
const unseen = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Text of unknown origin as an editor can show it one to one: characters that would not be seen, that would turn the
 * writing direction, or that editors take for line breaks of their own kind, become visible signs.
 */
export function visibleText(text: string): string {
  return text.replace(unseen, (character) => {
    const code = character.codePointAt(0)!;
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    if (code === 0x7f) return '\u2421';
    return `\\u{${code.toString(16)}}`;
  });
}

/** Control and format characters (bidirectional and zero-width ones too) and Unicode's line breaks; not tab, newline. */
const unseen = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Text of unknown origin as an editor can show it one to one: characters that would not be seen, that would turn the
 * writing direction, or that editors take for line breaks of their own kind, become visible escapes.
 */
export function visibleText(text: string): string {
  return text.replace(unseen, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}

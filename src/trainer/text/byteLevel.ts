/**
 * GPT-2's byte-level alphabet: every byte has a printable character, so that tokens can be written in JSON.
 * Printable Latin-1 stands for itself; the other bytes take U+0100 onwards, in order.
 */
const printable = (byte: number) =>
  (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);

/** Character of each byte: [256]. */
export const byteCharacters: readonly string[] = (() => {
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(printable(byte) ? byte : next++));
})();

const byteOfCharacter = new Map(byteCharacters.map((character, byte) => [character, byte]));

const utf8 = new TextEncoder();

/** Text to byte-level characters, one per UTF-8 byte. */
export function toByteCharacters(text: string): string {
  let characters = '';
  for (const byte of utf8.encode(text)) characters += byteCharacters[byte]!;
  return characters;
}

/** Bytes of a byte-level token; null where it holds a character outside the alphabet. */
export function fromByteCharacters(token: string): Uint8Array | null {
  const bytes = new Uint8Array(token.length);
  for (let i = 0; i < token.length; i++) {
    const byte = byteOfCharacter.get(token[i]!);
    if (byte === undefined) return null;
    bytes[i] = byte;
  }
  return bytes;
}

/** Bytes as text for people: whole characters as they are, bytes that belong to no whole character as `\xNN`. */
export function showBytes(bytes: Uint8Array): string {
  let shown = '';
  for (let i = 0; i < bytes.length;) {
    const length = characterLength(bytes, i);
    if (length === 0) {
      shown += `\\x${bytes[i]!.toString(16).padStart(2, '0').toUpperCase()}`;
      i += 1;
    } else {
      shown += strictUtf8.decode(bytes.subarray(i, i + length));
      i += length;
    }
  }
  return shown;
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Length in bytes of the UTF-8 character at `start`; 0 where there is no whole, valid one. */
function characterLength(bytes: Uint8Array, start: number): number {
  const lead = bytes[start]!;
  const length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 0;
  if (length === 0 || start + length > bytes.length) return 0;
  try {
    strictUtf8.decode(bytes.subarray(start, start + length));
    return length;
  } catch {
    return 0;
  }
}

/** Breaks text into lines of at most `width` characters, between words. */
export function wrap(text, width) {
  const lines = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line === '') {
      line = word;
    } else if (line.length + 1 + word.length <= width) {
      line += ' ' + word;
    } else {
      lines.push(line);
      line = word;
    }
  }
  if (line !== '') lines.push(line);
  return lines;
}

/** Shortens text to `limit` characters, the ellipsis included. */
export function truncate(text, limit) {
  if (text.length <= limit) return text;
  return text.slice(0, limit - 1) + '…';
}

/** Puts `margin` spaces before every line that is not empty. */
export function indent(text, margin) {
  const space = ' '.repeat(margin);
  return text
    .split('\n')
    .map((line) => (line === '' ? line : space + line))
    .join('\n');
}

/** Real files are some ten deep; what walks through deeper ones, as JSON.stringify does, runs out of stack. */
export const deepestJson = 200;

/** Whether JSON is nested deeper, found without parsing it. */
export function isTooDeep(json: Buffer): boolean {
  const [quote, backslash, open, close] = ['"', '\\', '[{', ']}'].map((marks) => [...Buffer.from(marks)]);
  let depth = 0;
  let inText = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (inText) {
      if (byte === backslash[0]) at++;
      else if (byte === quote[0]) inText = false;
    } else if (byte === quote[0]) inText = true;
    else if (byte === open[0] || byte === open[1]) depth++;
    else if (byte === close[0] || byte === close[1]) depth--;
    if (depth > deepestJson) return true;
  }
  return false;
}

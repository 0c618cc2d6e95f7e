/** Splits one line of CSV into its cells; a quoted cell may hold commas and doubled quotes. */
export function parseLine(line, separator = ',') {
  const cells = [];
  let cell = '';
  let quoted = false;
  for (let index = 0; index < line.length; index += 1) {
    const char = line[index];
    if (quoted && char === '"' && line[index + 1] === '"') {
      cell += '"';
      index += 1;
    } else if (char === '"') {
      quoted = !quoted;
    } else if (char === separator && !quoted) {
      cells.push(cell);
      cell = '';
    } else {
      cell += char;
    }
  }
  cells.push(cell);
  return cells;
}

/** Writes one line of CSV, with quotes where they are needed. */
export function formatLine(cells, separator = ',') {
  return cells.map((cell) => quote(String(cell), separator)).join(separator);
}

function quote(text, separator) {
  if (text.includes(separator) || text.includes('"')) {
    return '"' + text.replaceAll('"', '""') + '"';
  }
  return text;
}

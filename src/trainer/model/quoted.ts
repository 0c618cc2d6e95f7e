/** A name out of an untrusted file, for an error: short, on one line, in quotes. */
export function quoted(name: string): string {
  const json = JSON.stringify(name.slice(0, 200)).slice(1, -1);
  return `'${json.length > 80 ? `${json.slice(0, 80)}…` : json}'`;
}

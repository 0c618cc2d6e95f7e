/** Reads '1.2.3-beta' as its numbers and its tag. */
export function parseVersion(text) {
  const match = /^(\d+)\.(\d+)\.(\d+)(?:-(\w+))?$/.exec(text);
  if (match === null) throw new SyntaxError(`not a version: ${text}`);
  return { numbers: match.slice(1, 4).map(Number), tag: match[4] ?? null };
}

/** Below 0 where `a` is older than `b`, above 0 where it is newer, 0 where they are equal. */
export function compareVersions(a, b) {
  const left = parseVersion(a);
  const right = parseVersion(b);
  for (let index = 0; index < 3; index += 1) {
    const difference = left.numbers[index] - right.numbers[index];
    if (difference !== 0) return difference;
  }
  if (left.tag === right.tag) return 0;
  if (left.tag === null) return 1;
  if (right.tag === null) return -1;
  return left.tag < right.tag ? -1 : 1;
}

/** The newest of a list of versions. */
export function latest(versions) {
  return versions.reduce((best, version) => (compareVersions(version, best) > 0 ? version : best));
}

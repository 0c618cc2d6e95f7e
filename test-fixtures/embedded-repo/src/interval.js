/** True where two intervals [start, end) share a point. */
export function overlaps(a, b) {
  return a.start < b.end && b.start < a.end;
}

/** The length of an interval; an empty one has none. */
export function duration(interval) {
  return Math.max(0, interval.end - interval.start);
}

/** Joins intervals that touch or overlap; the result is sorted by start. */
export function mergeIntervals(intervals) {
  const sorted = [...intervals].sort((a, b) => a.start - b.start);
  const merged = [];
  for (const { start, end } of sorted) {
    const last = merged.at(-1);
    if (last !== undefined && start <= last.end) {
      last.end = Math.max(last.end, end);
    } else {
      merged.push({ start, end });
    }
  }
  return merged;
}

/** The part that two intervals share, or null. */
export function intersect(a, b) {
  const start = Math.max(a.start, b.start);
  const end = Math.min(a.end, b.end);
  return start < end ? { start, end } : null;
}

const UNITS = { d: 86400, h: 3600, m: 60, s: 1 };

/** Reads '1h 30m' as a number of seconds. */
export function parseDuration(text) {
  let total = 0;
  let found = false;
  for (const [, amount, unit] of text.matchAll(/(\d+)\s*([dhms])/g)) {
    total += Number(amount) * UNITS[unit];
    found = true;
  }
  return found ? total : null;
}

/** Writes a number of seconds as '1h 2m 5s', leaving out what is zero. */
export function formatDuration(seconds) {
  if (seconds === 0) return '0s';
  const parts = [];
  let rest = Math.abs(seconds);
  for (const [unit, size] of Object.entries(UNITS)) {
    const amount = Math.floor(rest / size);
    if (amount > 0) parts.push(`${amount}${unit}`);
    rest -= amount * size;
  }
  const sign = seconds < 0 ? '-' : '';
  return sign + parts.join(' ');
}

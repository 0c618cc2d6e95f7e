/** Where a shell begins a command: at the start, after an operator, or as an argument of a program that runs others. */
const at = String.raw`(?:^|[;&|(\n\x60]|\b(?:then|do|else|xargs|env|nohup|exec|sudo|time)\s)\s*(?:\w+=\S*\s+)*`;
const command = (rest: string) => new RegExp(at + rest);

const DANGERS: readonly (readonly [danger: string, pattern: RegExp])[] = [
  [
    'deletes far and wide',
    command(
      String.raw`rm\s+(?=[^;&|\n]*\s?-\w*[rR]|[^;&|\n]*--recursive)[^;&|\n]*\s["']?(?:\/|~|\$HOME|\.\.|\*|\.git)\/?\*?["']?(?:\s|$|[;&|])`,
    ),
  ],
  [
    'deletes what it finds on the disk',
    command(String.raw`find\s+["']?(?:\/|~|\$HOME)["']?\s[^;&|\n]*(?:-delete|-exec\s+rm)`),
  ],
  ['writes over a disk', command(String.raw`(?:mkfs[.\w]*|wipefs|shred|fdisk)\s|dd\s[^;&|\n]*\bof=\/dev\/`)],
  ['asks for more rights', command(String.raw`(?:sudo|doas|pkexec|su)(?:\s|$)`)],
  ['starts processes without end', /(\w+|:)\s*\(\)\s*\{[^}]*\1\s*\|\s*\1\s*&/],
  ["ends others' processes", command(String.raw`(?:killall|pkill)\s|kill\s+(?:-\w+\s+)*-1\b`)],
  ['runs what it downloads', /\b(?:curl|wget)\b[^\n]*\|\s*(?:sudo\s+)?(?:(?:ba|z|da|k)?sh|python3?|node|perl)\b/],
  ['stops the machine', command(String.raw`(?:shutdown|reboot|halt|poweroff)(?:\s|$)`)],
  ['opens files to everybody', command(String.raw`chmod\s+(?:-\w+\s+)*(?:[ao]*\+\w*w|0?777)\b`)],
  ['publishes', command(String.raw`(?:git\s+push|(?:npm|yarn|pnpm|cargo)\s+publish|twine\s+upload)\b`)],
  ['writes to the system', /(?:>>?|\btee\s+(?:-a\s+)?)\s*["']?\/(?:etc|boot|usr|bin|sbin|lib|sys|proc)\//],
  ['opens a way in', /\/dev\/tcp\/|\b(?:nc|ncat|netcat)\b[^;&|\n]*\s-\w*[el]/],
  ['reads secrets', /\/etc\/shadow\b|\bid_(?:rsa|ed25519)\b|\.(?:aws\/credentials|netrc|pgpass|git-credentials)\b/],
];

/** What is dangerous about a shell command: short phrases, none where nothing is. */
export function dangersOf(text: string): string[] {
  return DANGERS.filter(([, pattern]) => pattern.test(text)).map(([danger]) => danger);
}

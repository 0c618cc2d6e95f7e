const NUMERALS = [
  ['M', 1000],
  ['CM', 900],
  ['D', 500],
  ['CD', 400],
  ['C', 100],
  ['XC', 90],
  ['L', 50],
  ['XL', 40],
  ['X', 10],
  ['IX', 9],
  ['V', 5],
  ['IV', 4],
  ['I', 1],
];

/** Writes a number from 1 to 3999 in Roman numerals. */
export function toRoman(number) {
  if (number < 1 || number > 3999) throw new RangeError(`${number} has no Roman numeral`);
  let rest = number;
  let text = '';
  for (const [letters, value] of NUMERALS) {
    while (rest >= value) {
      text += letters;
      rest -= value;
    }
  }
  return text;
}

/** Reads Roman numerals. */
export function fromRoman(text) {
  let total = 0;
  let position = 0;
  for (const [letters, value] of NUMERALS) {
    while (text.startsWith(letters, position)) {
      total += value;
      position += letters.length;
    }
  }
  return position === text.length ? total : NaN;
}

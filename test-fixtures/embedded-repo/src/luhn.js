/** Sum of the digits, every second one from the right doubled. */
function luhnSum(digits, doubleFirst) {
  let sum = 0;
  let double = doubleFirst;
  for (let index = digits.length - 1; index >= 0; index -= 1) {
    let digit = Number(digits[index]);
    if (double) digit *= 2;
    if (digit > 9) digit -= 9;
    sum += digit;
    double = !double;
  }
  return sum;
}

/** True where the last digit is the check digit of the others. */
export function isLuhnValid(text) {
  const digits = text.replaceAll(' ', '');
  if (digits.length < 2) return false;
  if (/\D/.test(digits)) return false;
  return luhnSum(digits, false) % 10 === 0;
}

/** The digit that makes `text` valid. */
export function checkDigit(text) {
  return (10 - (luhnSum(text, true) % 10)) % 10;
}

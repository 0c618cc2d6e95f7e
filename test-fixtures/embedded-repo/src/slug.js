/** 'Hello, World!' becomes 'hello-world'. */
export function slugify(text) {
  const words = text
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .split(/[^a-z0-9]+/);
  return words.filter((word) => word.length > 0).join('-');
}

/** 'some-name' becomes 'someName'. */
export function camelCase(text) {
  const words = slugify(text).split('-');
  return words.map((word, index) => (index === 0 ? word : capitalize(word))).join('');
}

/** A slug that is not taken yet: 'name', 'name-2', 'name-3'. */
export function uniqueSlug(text, taken) {
  const base = slugify(text);
  let candidate = base;
  let number = 2;
  while (taken.includes(candidate)) {
    candidate = `${base}-${number}`;
    number += 1;
  }
  return candidate;
}

function capitalize(word) {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

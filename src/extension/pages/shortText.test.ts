import { expect, it } from 'vitest';
import { shortText } from './shortText.js';

it('a long text is cut, and so is what hovers over it; a short one stands as it is', () => {
  expect(shortText('src/sum.js')).toEqual({ text: 'src/sum.js' });
  const name = `${'x'.repeat(300)}\u202e`;
  const { text, title } = shortText(name);
  expect(text).toBe(`${'x'.repeat(200)}…`);
  expect(title).toBe(`${'x'.repeat(300)}\\u{202e}`);
  expect(shortText('y'.repeat(1_000_000)).title!.length).toBeLessThan(1100);
});

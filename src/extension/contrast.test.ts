import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { tintOpacity } from './tree/tint.js';

type Theme = 'dark' | 'light' | 'highContrast' | 'highContrastLight';
interface Colours {
  readonly contributes: { readonly colors: readonly { id: string; defaults: Readonly<Record<Theme, string>> }[] };
}

/** Background and text of the editor in its own themes: Dark Modern, Light Modern, and those of high contrast. */
const editor: Readonly<Record<Theme, { readonly background: string; readonly foreground: string }>> = {
  dark: { background: '#1f1f1f', foreground: '#cccccc' },
  light: { background: '#ffffff', foreground: '#3b3b3b' },
  highContrast: { background: '#000000', foreground: '#ffffff' },
  highContrastLight: { background: '#ffffff', foreground: '#292929' },
};
/** `charts.blue` and `charts.red` of themes. */
const tints: readonly (readonly [Theme, string])[] = [
  ...(['#3794ff', '#59a4f9', '#f14c4c', '#f85149'] as const).map((colour) => ['dark', colour] as const),
  ...(['#1a85ff', '#0063d3', '#e51400', '#ad0707'] as const).map((colour) => ['light', colour] as const),
];
/** WCAG 2.2, success criterion 1.4.3, for text. */
const least = 4.5;

const channels = (colour: string) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
const opacityOf = (colour: string) => (colour.length === 9 ? parseInt(colour.slice(7), 16) / 255 : 1);

/** What is seen of a colour that lies over another. */
function over(colour: string, below: string, opacity = opacityOf(colour)): readonly number[] {
  const under = channels(below);
  return channels(colour).map((value, at) => value * opacity + under[at] * (1 - opacity));
}

/** Relative luminance as WCAG 2.2 defines it, of sRGB from 0 to 255. */
function luminance(rgb: readonly number[]): number {
  const [r, g, b] = rgb
    .map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: readonly number[], b: readonly number[]): number {
  const [darker, lighter] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (lighter + 0.05) / (darker + 0.05);
}

const { contributes } = JSON.parse(readFileSync('package.json', 'utf8')) as Colours;
const colours = contributes.colors.flatMap(({ id, defaults }) =>
  Object.entries(defaults).map(([theme, colour]) => ({ id, theme: theme as Theme, colour })),
);

describe('contrast', () => {
  it('is 21 of black and white, and 1 of a colour and itself', () => {
    expect(contrast([0, 0, 0], [255, 255, 255])).toBeCloseTo(21, 10);
    expect(contrast(over('#777777', '#ffffff'), [255, 255, 255])).toBeCloseTo(4.48, 2);
    expect(contrast([1, 2, 3], [1, 2, 3])).toBe(1);
  });

  it.each(colours)('is enough to read text in or on $id in a $theme theme', ({ id, theme, colour }) => {
    const { background, foreground } = editor[theme];
    const [text, ground] = id.endsWith('Background')
      ? [channels(foreground), over(colour, background)]
      : [over(colour, background), channels(background)];
    expect(contrast(text, ground)).toBeGreaterThanOrEqual(least);
  });

  it.each(tints)('is enough to read a node of a tree in a %s theme whose tint is %s', (theme, colour) => {
    const { background, foreground } = editor[theme];
    for (const strength of [0, 0.5, 1]) {
      const ground = over(colour, background, tintOpacity(strength));
      expect(contrast(channels(foreground), ground)).toBeGreaterThanOrEqual(least);
    }
  });

  it('tells weak, medium and strong tokens apart', () => {
    for (const theme of Object.keys(editor) as Theme[]) {
      const { background } = editor[theme];
      for (const kind of ['positive', 'negative', 'amount']) {
        const distances = ['Weak', 'Medium', 'Strong'].map((strength) => {
          const id = `whetstone.${kind}${strength}TokenBackground`;
          const { colour } = colours.find((one) => one.id === id && one.theme === theme)!;
          return contrast(over(colour, background), channels(background));
        });
        expect(distances[1] / distances[0], `${kind}, ${theme}`).toBeGreaterThan(1.1);
        expect(distances[2] / distances[1], `${kind}, ${theme}`).toBeGreaterThan(1.1);
      }
    }
  });
});

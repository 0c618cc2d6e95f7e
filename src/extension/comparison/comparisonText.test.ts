import { describe, expect, it } from 'vitest';
import { comparedSchema } from './compared.js';
import { comparisonText } from './comparisonText.js';

const compared = comparedSchema.parse({
  model: 'of the run',
  success: { rate: 0.75, interval: [0.41, 0.93], n: 8 },
  comparison: {
    against: 'embedded',
    success: { rate: 0.5, interval: [0.22, 0.78], n: 8 },
    tasks: 8,
    episodes: 8,
    difference: 0.25,
    interval: [-0.1, 0.6],
    pValue: 0.5,
    regressions: [{ taskId: 'a\u202eb', episodes: 1, before: 1, after: 0 }],
    improvements: [],
  },
});

describe('a comparison in words', () => {
  it('tells both successes, the difference with its interval, and every task that changed', () => {
    expect(comparisonText('step 5', 'embedded', compared)).toMatchInlineSnapshot(`
      "━━ step 5 against embedded ━━

      step 5: 75 % solved (41 % to 93 %) of 8
      embedded: 50 % solved (22 % to 78 %) of 8
      Difference: +25.0 points (95 % interval −10.0 to +60.0)
      Tasks: 8; p = 0.50 (exact paired sign-flip test)

      ── Tasks that got worse ──
        a\\u{202e}b: solved 0, before 1, of 1

      ── Tasks that got better ──
        none"
    `);
  });

  it('stays text in lines of its own, whatever a record calls its runs and tasks', () => {
    const name = '<img src=x onerror=alert(1)>\n\u001b[2J[quit](command:workbench.action.quit)\u202e';
    const pair = { taskId: name, episodes: 1, before: 0, after: 1 };
    const { comparison } = compared;
    const text = comparisonText(name, name, { ...compared, comparison: { ...comparison, improvements: [pair] } });
    const shown = '<img src=x onerror=alert(1)> \\u{1b}[2J[quit](command:workbench.action.quit)\\u{202e}';
    const lines = text.split('\n');
    expect(lines[0]).toBe(`━━ ${shown} against ${shown} ━━`);
    expect(lines.at(-1)).toBe(`  ${shown}: solved 1, before 0, of 1`);
    expect(lines).toHaveLength(comparisonText('a', 'b', compared).split('\n').length);
  });

  it('leaves an interval out that is not known', () => {
    const { comparison } = compared;
    const text = comparisonText('a', 'b', { ...compared, comparison: { ...comparison, interval: null } });
    expect(text).toContain('Difference: +25.0 points\n');
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Grade } from '../../trajectory/grade.js';
import type { StopReason } from '../../trajectory/trajectory.js';
import { messageNode } from '../messageNode.testing.js';
import { parseSettings } from '../run/settings.js';
import { shapingSchema, type ShapingSettings } from '../run/shapingSettings.js';
import { lengthCost } from './lengthCost.js';
import { milestones, milestonesReached } from './milestones.js';
import { shapeGrade, shapingOf } from './shapeGrade.js';
import { toolUse } from './toolUse.js';

type Call = readonly [tool: string, given: Record<string, unknown>, answer: string];
/** Each call is a turn of its own. */
const nodesOf = (calls: readonly Call[]) =>
  calls.flatMap(([name, given, content], index) => [
    messageNode({ role: 'assistant', content: '', toolCalls: [{ id: `c${index}`, name, arguments: given }], raw: '' }),
    messageNode({ role: 'tool', toolCallId: `c${index}`, name, content }),
  ]);
const statistics = {
  turns: 1,
  toolCalls: {},
  malformedCalls: 0,
  unknownTools: 0,
  invalidArguments: 0,
  validCalls: 1,
  sampledTokens: 100,
  totalTokens: 200,
  seconds: 1,
};
const episode = (calls: readonly Call[], patch = '', stopReason: StopReason = 'submitted', unknownTools = 0) => ({
  nodes: nodesOf(calls),
  patch,
  stopReason,
  statistics: { ...statistics, unknownTools },
});
const shaping = (more: Partial<ShapingSettings> = {}) => shapingSchema.parse(more);

const open: Call = ['open', { path: './src/math.js' }, '1 export'];
const search: Call = ['search', { text: 'clamp' }, 'src/math.js:5'];
const edit: Call = ['edit', { path: 'src/math.js', old: 'a', new: 'b' }, 'Edited "src/math.js".'];
const notEdited: Call = ['edit', { path: 'src/math.js', old: 'q', new: 'b' }, 'Not edited: the text does not occur.'];
const failing: Call = ['run_tests', {}, '3 passed, 1 failed\nFAIL x'];
const passing: Call = ['run_tests', {}, '4 passed, 0 failed'];

describe('the reward for the use of tools', () => {
  const settings = shaping({ toolUse: 0.5 });
  const sumOf = (...given: Parameters<typeof episode>) => {
    const { score, weight } = toolUse(episode(...given), settings);
    return Number((score * weight).toFixed(10));
  };

  it('counts each kind of work once that was done with its own tool', () => {
    expect(sumOf([open, open, search, edit, passing])).toBe(0.35);
    expect(sumOf([open, edit, edit, passing], '', 'turn-limit')).toBe(0.3);
    // Reading after the change and tests before it are other work; what failed is none.
    expect(sumOf([failing, edit, open], '', 'turn-limit')).toBe(0.1);
    expect(sumOf([['open', { path: 'x' }, 'No file "x".'], notEdited], '', 'no-tool-call')).toBe(0);
  });

  it('takes for calls that are repeated with nothing changed since, and for unknown tools, up to the cap', () => {
    expect(sumOf([failing, failing, failing], '', 'turn-limit')).toBe(-0.1);
    expect(sumOf([failing, edit, passing, passing], '', 'turn-limit')).toBe(0.15);
    expect(sumOf([], '', 'turn-limit', 1)).toBe(-0.3);
    expect(sumOf([], '', 'turn-limit', 9)).toBe(-0.5);
  });

  it('takes for a submission while tests fail, where that costs', () => {
    const strict = shaping({ toolUse: 0.5, rightTool: 0, givenUp: 0.4 });
    const timedOut: Call = ['choose', { function: 1, number: 1 }, 'The tests timed out.\na'];
    const scored = (...given: Parameters<typeof episode>) => toolUse(episode(...given), strict);
    expect(scored([open, edit, failing]).score).toBe(-0.8);
    expect(scored([passing, edit, timedOut]).score).toBe(-0.8);
    expect(scored([failing, edit, passing]).score).toBe(0);
    expect(scored([open, edit]).score).toBe(0);
    expect(scored([open, edit, failing], '', 'turn-limit').score).toBe(0);
    expect(scored([open, edit, failing]).reason).toMatch('submitted while tests failed');
    expect(sumOf([open, edit, failing])).toBe(0.4);
  });

  it('takes for a call about the tree at the start wherever it is made again', () => {
    const choose = (number: number): Call => ['choose', { function: 1, number }, '3 passed, 1 failed\na'];
    const list: Call = ['suggest', { function: 1 }, 'src/a.js, a (2 changes)'];
    const once = sumOf([list, choose(1), choose(2), passing], '', 'turn-limit');
    expect(once).toBe(0.3);
    expect(sumOf([list, choose(1), choose(2), choose(1), passing], '', 'turn-limit')).toBe(0.25);
    expect(sumOf([list, choose(1), list, choose(2), passing, choose(1), passing], '', 'turn-limit')).toBe(0.2);
  });
});

const hunk = (path: string, start: number, lines: string[]) => {
  const [before, after] = [' -', ' +'].map((kinds) => lines.filter((line) => kinds.includes(line[0]!)).length);
  return `--- a/${path}\n+++ b/${path}\n@@ -${start},${before} +${start},${after} @@\n${lines.join('\n')}\n`;
};
/** Changes line 12 of src/math.js. */
const oracle = hunk('src/math.js', 9, [' a', ' b', ' c', '-old', '+new', ' d', ' e', ' f']);
const task = { patch: oracle, FAIL_TO_PASS: ['x', 'y'] };
const gradeOf = (mended: readonly string[], reward = 0): Grade => ({
  reward,
  resolved: false,
  components: { tests: { score: reward, weight: 1 } },
  tests: ['x', 'y', 'z'].map((id) => ({
    id,
    before: id === 'z' ? 'passed' : 'failed',
    after: mended.includes(id) || id === 'z' ? 'passed' : 'failed',
  })),
  files: [],
});

describe('milestones', () => {
  const found = (calls: readonly Call[], patch = '', mended: readonly string[] = []) =>
    milestones(episode(calls, patch), gradeOf(mended), task, 0.2);

  it('are the share of those that the record and the grade bear witness to, and say which', () => {
    expect(found([])).toEqual({ score: 0, weight: 0.2, reason: 'no milestone reached' });
    expect(found([failing]).reason).toBe('failure reproduced');
    expect(found([edit, failing]).score).toBe(0);
    expect(found([['run_tests', {}, 'The tests timed out.'], passing]).score).toBe(0);
    expect(found([open]).reason).toBe('faulty file opened');
    expect(found([['open', { path: 'src/other.js' }, '1 x']]).score).toBe(0);
    expect(found([['open', { path: 'src/math.js' }, 'No file "src/math.js".']]).score).toBe(0);
    expect(found([], '', ['y']).reason).toBe('failing test mended');
    expect(found([failing, open, edit], oracle, ['x', 'y']).score).toBe(1);
  });

  it('take a change for one of the faulty place within the lines that the oracle shows, of that file alone', () => {
    const at = (line: number, path = 'src/math.js') => found([], hunk(path, line, ['-x', '+y'])).score;
    expect([8, 9, 12, 15, 16].map((line) => at(line))).toEqual([0, 0.25, 0.25, 0.25, 0]);
    expect(at(12, 'src/other.js')).toBe(0);
    expect(found([], hunk('src/math.js', 10, [' k', '+added'])).score).toBe(0.25);
    // Lines of context are no change.
    expect(found([], hunk('src/math.js', 1, ['-x', ...Array<string>(9).fill(' k')])).score).toBe(0);
    expect(found([], 'no patch at all').score).toBe(0);
  });

  it('are reached in the turn of the call that bears witness to them, what shows in the end alone in the last', () => {
    const reachedIn = (calls: readonly Call[], patch = '', mended: readonly string[] = []) =>
      Object.fromEntries(milestonesReached(episode(calls, patch), gradeOf(mended), task));
    expect(reachedIn([search, failing, failing, open, notEdited, edit, passing], oracle, ['x'])).toEqual({
      'failure reproduced': 1,
      'faulty file opened': 3,
      'faulty place edited': 5,
      'failing test mended': 6,
    });
    const applied: Call = ['apply_patch', { patch: oracle }, 'Applied.'];
    expect(reachedIn([search, applied, search], oracle)).toEqual({ 'faulty place edited': 1 });
    const command: Call = ['run_command', { command: 'sed -i s/a/b/ src/math.js' }, ''];
    expect(reachedIn([command, search], oracle)).toEqual({ 'faulty place edited': 1 });
    expect(reachedIn([])).toEqual({});
  });

  it('know a file that the oracle makes', () => {
    const created = '--- /dev/null\n+++ b/src/new.js\n@@ -0,0 +1,1 @@\n+x\n';
    const own = '--- /dev/null\n+++ b/src/new.js\n@@ -0,0 +1,2 @@\n+y\n+z\n';
    expect(milestones(episode([], own), gradeOf([]), { ...task, patch: created }, 1).reason).toBe(
      'faulty place edited',
    );
  });
});

describe('the cost of length', () => {
  it('is linear up to its most, and nothing up to the target', () => {
    const settings = shaping({ length: 'linear', lengthCost: 0.001, lengthMost: 0.5 });
    const cost = (tokens: number) => {
      const { score, weight } = lengthCost(tokens, 300, 1, settings);
      return Number((score * weight).toFixed(12));
    };
    expect([0, 300, 400, 800, 9000].map(cost)).toEqual([0, 0, -0.1, -0.5, -0.5]);
  });

  it('is a sigmoid gate on what was earned, which leaves failures as they are', () => {
    const settings = shaping({ length: 'sigmoid', lengthWidth: 100 });
    fc.assert(
      fc.property(fc.nat(5000), fc.double({ min: -2, max: 2, noNaN: true }), (tokens, reward) => {
        const { score, weight } = lengthCost(tokens, 1000, reward, settings);
        const gate = 1 / (1 + Math.exp((tokens - 1000) / 100));
        expect(reward + score * weight).toBeCloseTo(reward > 0 ? reward * gate : reward, 12);
      }),
    );
  });
});

describe('a shaped grade', () => {
  it('is the grade with its components beside the others, whose sum is the reward; the outcome stays', () => {
    const all = shaping({ milestones: 0.2, toolUse: 0.3, length: 'sigmoid', lengthTarget: 50, lengthWidth: 10 });
    const grade = { ...gradeOf(['x'], 0.5), resolved: true };
    const shaped = shapeGrade(grade, episode([failing, open, edit, passing], oracle), task, all);
    expect(Object.keys(shaped.components)).toEqual(['tests', 'milestones', 'toolUse', 'length']);
    const sum = Object.values(shaped.components).reduce((total, { score, weight }) => total + score * weight, 0);
    expect(shaped.reward).toBeCloseTo(sum, 12);
    expect(shaped).toMatchObject({ resolved: true, tests: grade.tests });
  });

  it('is bounded and finite whatever was done', () => {
    const call = fc.constantFrom(open, search, edit, notEdited, failing, passing);
    fc.assert(
      fc.property(
        fc.array(call),
        fc.nat(99),
        fc.nat(1e6),
        fc.double({ min: -2, max: 1.3, noNaN: true }),
        (calls, unknown, tokens, reward) => {
          const played = episode(calls, oracle, 'submitted', unknown);
          const all = shaping({ milestones: 0.2, toolUse: 0.3, length: 'linear', lengthTarget: 10 });
          const long = { ...played, statistics: { ...played.statistics, sampledTokens: tokens } };
          const shaped = shapeGrade(gradeOf([], reward), long, task, all).reward - reward;
          expect(shaped).toBeGreaterThanOrEqual(-0.3 - 0.5 - 1e-9);
          expect(shaped).toBeLessThanOrEqual(0.5 + 1e-9);
        },
      ),
    );
  });

  it('is wanted only where a setting asks for it; the target of the length is half of the most unless told', () => {
    expect(shapingOf(parseSettings({}))).toBeNull();
    const settings = parseSettings({ shaping: { length: 'linear' }, maxTurns: 4, maxTokensPerTurn: 100 });
    expect(shapingOf(settings)?.lengthTarget).toBe(200);
    expect(shapingOf(parseSettings({ shaping: { length: 'linear', lengthTarget: 7 } }))?.lengthTarget).toBe(7);
  });
});

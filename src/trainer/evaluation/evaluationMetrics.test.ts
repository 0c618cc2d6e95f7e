import { describe, expect, it } from 'vitest';
import type { Message } from '../../trajectory/message.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { rollout } from '../scriptedLearner.testing.js';
import { compareEvaluations } from './compareEvaluations.js';
import { evaluationMetrics, outcomesByTask, passRates } from './evaluationMetrics.js';
import { measurePatch } from './patchMeasures.js';

const episode = (
  taskId: string,
  sample: number,
  reward: number | null,
  more: Partial<Trajectory> = {},
): Trajectory => ({
  ...rollout(0, 1, reward),
  kind: 'evaluation',
  taskId,
  sample,
  ...more,
});

const patch = `diff --git a/src/a.js b/src/a.js
--- a/src/a.js
+++ b/src/a.js
@@ -1,3 +1,3 @@
 one
-two
+three
--- a comment of SQL
`;

describe('the measures of a patch', () => {
  it('are its changed lines, its files and what is untidy among its added lines', () => {
    expect(measurePatch(patch)).toEqual({ changedLines: 3, files: ['src/a.js'], untidyLines: 0 });
    const untidy = '--- a/x\n+++ b/x\n@@ -0,0 +1,4 @@\n+a \n+  \tb\n+<<<<<<< ours\n+fine\n';
    expect(measurePatch(untidy)).toMatchObject({ changedLines: 4, untidyLines: 3 });
    const created =
      '--- /dev/null\n+++ b/new file.js\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n--- a/old.js\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n';
    expect(measurePatch(created).files).toEqual(['new file.js', 'old.js']);
    expect(measurePatch('')).toEqual({ changedLines: 0, files: [], untidyLines: 0 });
  });
});

describe('the metrics of an evaluation', () => {
  it('count pass@k over the graded episodes of each task', () => {
    const trajectories = [
      ...[1, 0, 0, 0].map((reward, sample) => episode('a', sample, reward)),
      ...[1, 1, null, 0].map((reward, sample) => episode('b', sample, reward)),
    ];
    const outcomes = outcomesByTask(trajectories);
    expect(outcomes).toEqual([
      { taskId: 'a', solved: [true, false, false, false] },
      { taskId: 'b', solved: [true, true, null, false] },
    ]);
    const rates = passRates(outcomes);
    expect(Object.keys(rates)).toEqual(['1', '2', '4']);
    expect(rates['1']).toBeCloseTo((1 / 4 + 2 / 3) / 2, 12);
    expect(rates['2']).toBeCloseTo((1 / 2 + 1) / 2, 12);
    // Three graded episodes say nothing about four.
    expect(rates['4']).toBe(1);
    expect(passRates([])).toEqual({});
  });

  it('tell steps, calls, recovery, cost, safety, conduct and patches apart', () => {
    const turn = (name: string, content: string): Message[] => [
      { role: 'assistant', content: '', toolCalls: [{ id: '1', name, arguments: {} }], raw: '' },
      { role: 'tool', toolCallId: '1', name, content },
    ];
    const messages = [
      ...turn('edit', 'Not edited: no such text.'),
      ...turn('run_tests', '1 passed, 2 failed'),
      ...turn('open', 'No file "b.js".'),
      ...turn('open', 'No file "c.js".'),
    ];
    const base = rollout(0, 1, 1);
    const nodes = messages.map((message, index) => ({
      ...base.nodes[0],
      message,
      parent: index === 0 ? null : index - 1,
    }));
    const penalty = (score: number) => ({ score, weight: 1 });
    const one = episode('a', 0, 1, {
      nodes,
      patch: patch.replaceAll('src/a.js', 'src/b.js'),
      grade: { ...base.grade!, components: { lintErrors: penalty(-1), manyFiles: penalty(0), judge: penalty(0.5) } },
      statistics: { ...base.statistics, turns: 4, dangerousCommands: ['deletes files'], seconds: 3 },
    });
    const two = episode('a', 1, 0, { statistics: { ...base.statistics, turns: 2 } });
    const metrics = evaluationMetrics([one, two, episode('a', 2, null)], new Map([['a', { patch }]]));
    expect(metrics).toMatchObject({
      episodes: 2,
      infrastructure_failures: 1,
      'steps/mean': 3,
      'tools/accuracy': 0.75,
      'tools/recovery': 1 / 3,
      'safety/dangerous_commands': 0.5,
      'rewards/judge/mean': 0.5,
      'conduct/lintErrors': 1,
      'conduct/manyFiles': 0,
      'patch/lines_of_oracle': 1,
      'patch/unrelated_files': 1,
      'patch/none': 0.5,
      'cost/seconds': 2,
      human_interventions: 0,
    });
    expect(Object.values(metrics).every(Number.isFinite)).toBe(true);
    expect(Object.values(evaluationMetrics([], new Map())).every(Number.isFinite)).toBe(true);
  });
});

describe('a comparison of two evaluations', () => {
  it('pairs the episodes of the same sample, and names what got worse and better', () => {
    const before = [
      { taskId: 'a', solved: [true, true, null] },
      { taskId: 'b', solved: [false, false, true] },
      { taskId: 'gone', solved: [true] },
    ];
    const after = [
      { taskId: 'a', solved: [true, false, true] },
      { taskId: 'b', solved: [true, true, true] },
      { taskId: 'new', solved: [true] },
    ];
    const { regressions, improvements, tasks, episodes, difference } = compareEvaluations(before, after);
    expect(regressions).toEqual([{ taskId: 'a', episodes: 2, before: 2, after: 1 }]);
    expect(improvements).toEqual([{ taskId: 'b', episodes: 3, before: 1, after: 3 }]);
    expect([tasks, episodes]).toEqual([2, 5]);
    expect(difference).toBeCloseTo((-1 / 2 + 2 / 3) / 2, 12);
  });
});

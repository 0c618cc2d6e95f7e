import { FormatError, parseUnifiedDiff } from '../../env/reward/unifiedPatch.js';
import type { Grade, RewardComponent } from '../../trajectory/grade.js';
import type { Task } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { hasChanged, playedCalls, testCounts } from '../rollout/playedCalls.js';

/**
 * How far an episode came on the way to the oracle's change (requirement R9), as a component in [0, 1]: the share of these that
 * happened, each verified from the record and the grade, and none of them the policy's word.
 *
 * - the failure was reproduced: a run of the tests before the first change had failures
 * - a file that the oracle changes was opened
 * - a line was changed that the oracle changes, or that stands within its three lines of context
 * - one of the failing tests passes in the graded tree
 */
export function milestones(
  trajectory: Pick<Trajectory, 'nodes' | 'patch'>,
  grade: Pick<Grade, 'tests'>,
  task: Pick<Task, 'patch' | 'FAIL_TO_PASS'>,
  weight: number,
): RewardComponent {
  const calls = playedCalls(trajectory);
  const firstChange = calls.findIndex(hasChanged);
  const before = firstChange < 0 ? calls : calls.slice(0, firstChange);
  const faulty = placesOf(task.patch, 'hunks');
  const changed = placesOf(trajectory.patch, 'changes');
  const failing = new Set(task.FAIL_TO_PASS);
  const reached = {
    'failure reproduced': before.some((call) => (testCounts(call)?.failed ?? 0) > 0),
    'faulty file opened': calls.some(
      ({ tool, went, arguments: { path } }) => tool === 'open' && went && faulty.has(plain(path)),
    ),
    'faulty place edited': [...changed].some(([path, own]) =>
      own.some(([from, to]) => (faulty.get(path) ?? []).some(([start, end]) => from <= end && to >= start)),
    ),
    'failing test mended': grade.tests.some(({ id, after }) => failing.has(id) && after === 'passed'),
  };
  const names = Object.entries(reached).flatMap(([name, is]) => (is ? [name] : []));
  return {
    score: names.length / Object.keys(reached).length,
    weight,
    reason: names.length === 0 ? 'no milestone reached' : names.join(', '),
  };
}

/** A path as a patch has it. */
const plain = (path: unknown) => (typeof path === 'string' ? path.replace(/^(?:\.\/)+/, '') : '');

type Places = Map<string, (readonly [from: number, to: number])[]>;

/**
 * Lines of the start tree that a patch touches, by file: those of its whole hunks, or those that it removes or adds something
 * behind. Empty where it cannot be read.
 */
function placesOf(patch: string, what: 'hunks' | 'changes'): Places {
  const places: Places = new Map();
  for (const { oldPath, newPath, patch: file } of readable(patch)) {
    const ranges = file.hunks.flatMap(({ oldStart, oldLines, lines }): (readonly [number, number])[] => {
      if (what === 'hunks') return [[oldStart, oldStart + Math.max(1, oldLines) - 1]];
      let line = oldStart;
      return lines.flatMap((text): (readonly [number, number])[] => {
        if (text.startsWith('\\')) return [];
        if (text.startsWith('+')) return [[Math.max(oldStart, line - 1), Math.max(oldStart, line - 1)]];
        return text.startsWith('-') ? [[line, line++]] : (line++, []);
      });
    });
    places.set(oldPath ?? newPath ?? '', ranges);
  }
  return places;
}

function readable(patch: string) {
  try {
    return parseUnifiedDiff(patch);
  } catch (error) {
    if (error instanceof FormatError) return [];
    throw error;
  }
}

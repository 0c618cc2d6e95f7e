import { FormatError, parseUnifiedDiff } from '../../env/reward/unifiedPatch.js';
import type { Grade, RewardComponent } from '../../trajectory/grade.js';
import type { Task } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { hasChanged, playedCalls, testCounts, type PlayedCall } from '../rollout/playedCalls.js';

/** How many there are. */
export const milestoneCount = 4;

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
  const names = [...milestonesReached(trajectory, grade, task).keys()];
  return {
    score: names.length / milestoneCount,
    weight,
    reason: names.length === 0 ? 'no milestone reached' : names.join(', '),
  };
}

/**
 * Those that were reached, each with the turn in which: 0-based, among all that the policy said. A place that was changed by something
 * else than the tools for it counts as changed in the last turn, and so does a test as mended, which is known at the end.
 */
export function milestonesReached(
  trajectory: Pick<Trajectory, 'nodes' | 'patch'>,
  grade: Pick<Grade, 'tests'>,
  task: Pick<Task, 'patch' | 'FAIL_TO_PASS'>,
): ReadonlyMap<string, number> {
  const calls = playedCalls(trajectory);
  const firstChange = calls.findIndex(hasChanged);
  const before = firstChange < 0 ? calls : calls.slice(0, firstChange);
  const faulty = placesOf(task.patch, 'hunks');
  const changed = placesOf(trajectory.patch, 'changes');
  const failing = new Set(task.FAIL_TO_PASS);
  const last = Math.max(0, trajectory.nodes.filter(({ message }) => message.role === 'assistant').length - 1);
  const isEdited = [...changed].some(([path, own]) =>
    own.some(([from, to]) => (faulty.get(path) ?? []).some(([start, end]) => from <= end && to >= start)),
  );
  const isMended = grade.tests.some(({ id, after }) => failing.has(id) && after === 'passed');
  const reached: readonly (readonly [name: string, turn: number | undefined])[] = [
    ['failure reproduced', before.find((call) => (testCounts(call)?.failed ?? 0) > 0)?.turn],
    [
      'faulty file opened',
      calls.find(({ tool, went, arguments: { path } }) => tool === 'open' && went && faulty.has(plain(path)))?.turn,
    ],
    [
      'faulty place edited',
      isEdited
        ? (calls.find((call) => hasChanged(call) && filesOf(call).some((path) => faulty.has(path)))?.turn ?? last)
        : undefined,
    ],
    ['failing test mended', isMended ? last : undefined],
  ];
  return new Map(reached.flatMap(([name, turn]) => (turn === undefined ? [] : [[name, turn] as const])));
}

/** The files that a changing call names, or its answer where it takes numbers. */
function filesOf({ tool, answer, arguments: { path, patch } }: PlayedCall): readonly string[] {
  if (tool === 'edit') return [plain(path)];
  if (tool === 'choose') return [/^.*\n(.+?):\d+: /.exec(answer)?.[1] ?? ''];
  return typeof patch === 'string' ? [...placesOf(patch, 'hunks').keys()] : [];
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

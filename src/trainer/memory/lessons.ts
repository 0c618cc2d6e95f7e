import { failureOf } from '../../env/tools/failure.js';
import type { SystemMessage, UserMessage } from '../../trajectory/message.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import type { RunEvent } from '../run/runRecord.js';

export type LessonEvent = Extract<RunEvent, { type: 'lesson' }>;

/** A lesson is one line of at most so many characters: the memory must not crowd out the task. */
export const lessonCharacters = 300;

/** Text of whatever origin as a lesson: one line, bounded. */
export function asLesson(text: string): string {
  const line = [...text.replace(/\s+/g, ' ').trim()];
  return line.length > lessonCharacters ? `${line.slice(0, lessonCharacters - 1).join('')}…` : line.join('');
}

/**
 * The lesson that is in what the tools answered: how the attempt ended, what it changed, what the tests said last, which call
 * failed last. Nothing of it is known to the grader alone.
 */
export function factsLesson({ nodes, stopReason, patch, statistics }: Trajectory): string {
  const answers = nodes.flatMap(({ message }) => (message.role === 'tool' ? [message] : []));
  const files = [...new Set(Array.from(patch.matchAll(/^\+\+\+ b\/(.+)$/gm), ([, file]) => file!))];
  const ranTests = (answer: (typeof answers)[number]) =>
    answer.name === 'run_tests' || (answer.name === 'choose' && failureOf(answer) === null);
  const tests = answers.findLast(ranTests)?.content.split('\n', 1)[0];
  const failures = answers.flatMap((answer) => (answer.name === 'run_tests' ? [] : (failureOf(answer) ?? [])));
  const { turns } = statistics;
  return asLesson(
    [
      `An attempt did not solve it (${stopReason} after ${turns} ${turns === 1 ? 'turn' : 'turns'}).`,
      files.length === 0 ? 'It changed nothing.' : `It changed ${files.slice(0, 3).join(', ')}.`,
      tests === undefined ? 'It never ran the tests.' : `The tests said last: ${tests.replace(/\.$/, '')}.`,
      ...(failures.length === 0 ? [] : [`The last of ${failures.length} calls that failed: ${failures.at(-1)!}`]),
    ].join(' '),
  );
}

/** The attempt that a group is remembered by: of those that failed the best; null where none failed. */
export function attemptToRemember(group: readonly Trajectory[]): Trajectory | null {
  const failed = group.filter(({ grade }) => grade !== null && !grade.resolved);
  return failed.reduce<Trajectory | null>(
    (best, one) => (best === null || one.grade!.reward > best.grade!.reward ? one : best),
    null,
  );
}

/**
 * The lessons that attempts of a task in a step are shown, oldest first: the newest of steps before, at most `most`, none twice. What
 * a resumed run wrote again counts in place of what it wrote before.
 */
export function lessonsFor(events: readonly RunEvent[], taskId: string, step: number, most: number): string[] {
  if (most === 0) return [];
  const byStep = new Map<number, string>();
  for (const event of events)
    if (event.type === 'lesson' && event.taskId === taskId && event.step < step) byStep.set(event.step, event.text);
  const inOrder = [...byStep].sort(([a], [b]) => a - b).map(([, text]) => text);
  return newestDistinct(inOrder, most);
}

/** The last `most` different texts, in order. */
export function newestDistinct(texts: readonly string[], most: number): string[] {
  const newest = [...new Set([...texts].reverse())].slice(0, most);
  return newest.reverse();
}

/** The prompt with the lessons behind the task. */
export function withLessons(
  [system, user]: readonly [SystemMessage, UserMessage],
  lessons: readonly string[] = [],
): [SystemMessage, UserMessage] {
  if (lessons.length === 0) return [system, user];
  const lines = lessons.map((lesson) => `- ${lesson}`).join('\n');
  return [system, { ...user, content: `${user.content}\n\nLessons from earlier attempts:\n${lines}` }];
}

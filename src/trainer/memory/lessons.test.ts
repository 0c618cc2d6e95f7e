import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../trajectory/message.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import type { Player } from '../rollout/arena.js';
import { scriptedPlayer } from '../rollout/scripted.testing.js';
import type { RunEvent } from '../run/runRecord.js';
import { fixtureCodec } from '../text/fixtureCodecs.testing.js';
import {
  asLesson,
  attemptToRemember,
  factsLesson,
  lessonCharacters,
  lessonsFor,
  withLessons,
  type LessonEvent,
} from './lessons.js';
import { lessonsOfStep } from './runMemory.js';
import { writeLesson } from './writeLesson.js';

const tool = (name: string, content: string): Message => ({ role: 'tool', toolCallId: 'c', name, content });
const attempt = (messages: readonly Message[], more: Partial<Trajectory> = {}): Trajectory =>
  ({
    id: 'step-000001/task/0',
    taskId: 'task',
    seed: 5,
    stopReason: 'turn-limit',
    patch: '',
    statistics: { turns: 3 },
    grade: { reward: 0, resolved: false },
    nodes: [{ role: 'user', content: 'mend add' } as const, ...messages].map((message) => ({ message })),
    ...more,
  }) as unknown as Trajectory;
const graded = (reward: number, resolved = false) =>
  ({ reward, resolved, components: {}, tests: [], files: [] }) satisfies Trajectory['grade'];
const { signal } = new AbortController();

describe('a lesson', () => {
  it('says what the tools answered, on one short line', () => {
    const patch = '--- a/src/a.js\n+++ b/src/a.js\n@@ -1 +1 @@\n-a\n+b\n';
    const messages = [
      tool('run_tests', '3 passed, 1 failed\nFAIL add'),
      tool('edit', 'Not edited: the text does not occur.'),
      tool('run_tests', '2 passed, 2 failed'),
    ];
    expect(factsLesson(attempt(messages, { patch }))).toBe(
      'An attempt did not solve it (turn-limit after 3 turns). It changed src/a.js. The tests said last: 2 passed, 2 failed. ' +
        'The last of 1 calls that failed: Not edited: the text does not occur.',
    );
    const chosen = [
      tool('choose', '1 passed, 3 failed\na.js:1: < becomes <='),
      tool('choose', 'No change 9: there are 3.'),
    ];
    expect(factsLesson(attempt(chosen))).toContain(
      'The tests said last: 1 passed, 3 failed. The last of 1 calls that failed: No change 9',
    );
    expect(factsLesson(attempt([]))).toMatch(/It changed nothing\. It never ran the tests\.$/);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 900 }), (text) => {
        const lesson = asLesson(text);
        expect([...lesson].length).toBeLessThanOrEqual(lessonCharacters);
        expect(lesson).not.toMatch(/[\r\n]/);
      }),
    );
  });

  it('is of the best attempt that failed, where one did', () => {
    const [bad, better, solved] = [graded(-1), graded(0.4), graded(1, true)].map((grade) => attempt([], { grade }));
    expect(attemptToRemember([bad!, better!, solved!])).toBe(better);
    expect(attemptToRemember([solved!, attempt([], { grade: null })])).toBeNull();
  });

  it('is shown to later steps alone, bounded, none twice, and what a resumed run wrote again counts once', () => {
    const lesson = (step: number, text: string, taskId = 'task'): RunEvent => ({
      at: '',
      type: 'lesson',
      step,
      taskId,
      trajectoryId: 'x',
      text,
    });
    const events = [lesson(1, 'a'), lesson(2, 'torn'), lesson(2, 'b'), lesson(3, 'a'), lesson(2, 'c', 'other')];
    expect(lessonsFor(events, 'task', 1, 5)).toEqual([]);
    expect(lessonsFor(events, 'task', 3, 5)).toEqual(['a', 'b']);
    expect(lessonsFor(events, 'task', 4, 5)).toEqual(['b', 'a']);
    expect(lessonsFor(events, 'task', 4, 1)).toEqual(['a']);
    expect(lessonsFor(events, 'task', 4, 0)).toEqual([]);
  });

  it('stands behind the task in the prompt', () => {
    const prompt = [
      { role: 'system', content: 's' },
      { role: 'user', content: 'mend add' },
    ] as const;
    expect(withLessons(prompt, [])).toEqual(prompt);
    expect(withLessons(prompt, ['a', 'b'])[1].content).toBe('mend add\n\nLessons from earlier attempts:\n- a\n- b');
  });

  it('can be the words of the policy, asked beside the play; where it says nothing the facts are the lesson', async () => {
    const codec = fixtureCodec('embedded');
    const { player, requests, released } = scriptedPlayer(
      codec,
      ['Look at\nadd first.', ''].map((text) => codec.encodeTurn(text)),
    );
    expect(await writeLesson(player, attempt([]), 'policy', 1, signal)).toBe('Look at add first.');
    expect(codec.decode(requests[0]!.tokenIds)).toContain('mend add\nAn attempt did not solve it');
    expect(await writeLesson(player, attempt([]), 'policy', 1, signal)).toBe(factsLesson(attempt([])));
    expect(released).toHaveLength(2);
    expect(await writeLesson(player, attempt([]), 'facts', 1, signal)).toBe(factsLesson(attempt([])));
    expect(requests).toHaveLength(2);
  });

  it('of a step there is one a task, and none where memory is left out', async () => {
    const groups = [0.1, 0.2].map((reward) => ({
      taskId: 'task',
      trajectories: [attempt([], { id: String(reward), grade: graded(reward) })],
    }));
    const player = {} as Player;
    const of = (lessons: number) =>
      lessonsOfStep(player, groups, { memory: { lessons, writer: 'facts' }, temperature: 1 }, 4, signal);
    const expected: Partial<LessonEvent> = { type: 'lesson', step: 4, taskId: 'task', trajectoryId: '0.2' };
    expect(await of(2)).toMatchObject([expected]);
    expect(await of(0)).toEqual([]);
  });
});

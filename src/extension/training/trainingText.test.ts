import { afterEach, describe, expect, it } from 'vitest';
import type { RunEvent, RunSummary, Stage } from '../../trainer/run/runRecord.js';
import { say } from '../../trajectory/said.js';
import { useTranslations } from '../translate.js';
import { trainingText } from './trainingText.js';

const summary = (stage: Stage | null, step = 0): RunSummary => ({
  id: 'run',
  folder: '/run',
  status: 'running',
  stage,
  step,
  steps: 4,
  createdAt: '',
  message: '',
});
const step: RunEvent = { at: '', type: 'step', step: 2, metrics: { reward: 0.456 }, groups: [] };
const progress = (stage: Stage, done: number): RunEvent => ({
  at: '',
  type: 'progress',
  stage,
  message: 'sum.js',
  done,
  total: 10,
});

describe('a training in words', () => {
  afterEach(() => useTranslations({}));

  it('names stage, step and the last reward', () => {
    expect(trainingText(summary('train', 2), [step]).status).toBe('training · step 2 of 4 · reward 0.46');
    expect(trainingText({ ...summary('train', 2), status: 'paused' }, []).status).toBe(
      'paused · training · step 2 of 4',
    );
    expect(trainingText(summary(null), []).status).toBe('starting');
  });

  it('adds what is being done, unless that belongs to an earlier stage', () => {
    expect(trainingText(summary('tasks'), [progress('tasks', 3)]).message).toBe('building tasks · sum.js');
    expect(trainingText(summary('train'), [progress('tasks', 10)]).message).toBe('training · step 0 of 4');
  });

  it('is in the language of the editor, what the engine says of its progress too', () => {
    useTranslations({ training: '训练中', 'Step {0} of {1}': '第 {0} 步，共 {1} 步', 'Held-out tasks': '留出任务' });
    const said = (told: ReturnType<typeof say>): RunEvent => ({ ...progress('train', 1), ...told }) as RunEvent;
    expect(trainingText(summary('train'), [said(say`Step ${2} of ${4}`)]).message).toBe('训练中 · 第 2 步，共 4 步');
    expect(trainingText(summary('train'), [said(say`Held-out tasks`)]).message).toBe('训练中 · 留出任务');
    expect(trainingText(summary('train'), [progress('train', 1)]).message).toBe('训练中 · sum.js');
  });

  it('never goes back on its way to the end', () => {
    const shares = [
      trainingText(summary('tasks'), [progress('tasks', 0)]),
      trainingText(summary('tasks'), [progress('tasks', 10)]),
      trainingText(summary('evaluate-before'), [progress('evaluate-before', 5)]),
      trainingText(summary('train', 0), []),
      trainingText(summary('train', 4), []),
      trainingText(summary('evaluate-after', 4), [progress('evaluate-after', 10)]),
    ].map(({ percent }) => percent);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(shares.at(-1)).toBe(100);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StepEvent } from '../run/runRecord.js';
import { parseSettings, type SettingsInput } from '../run/settings.js';
import { rankTasks, type GroupOutcome } from './adaptiveCurriculum.js';
import { chooseReplay } from './replay.js';
import { temperatureAt, temperatureOfSample, toolEpsilonAt, turnsAt } from './schedules.js';
import { isEndOfStage, needsReference, stageOfStep } from './stages.js';
import { planStep } from './stepPlan.js';

const ids = ['a', 'b', 'c', 'd', 'e'];
const settingsOf = (more: SettingsInput = {}) => parseSettings({ tasksPerStep: 2, ...more });
const adaptive = settingsOf({ curriculum: { order: 'adaptive' } });

function stepEvent(
  step: number,
  groups: Partial<StepEvent['groups'][number]>[],
  more: Partial<StepEvent> = {},
): StepEvent {
  const whole = groups.map((group, index) => ({
    taskId: ids[index],
    trajectoryIds: [`s${step}/${index}`],
    advantages: [1, -1],
    ...group,
  }));
  return { at: '', type: 'step', step, metrics: {}, groups: whole, ...more };
}

const outcome = (step: number, taskId: string, resolved: number, played = 8): GroupOutcome => ({
  step,
  taskId,
  played,
  resolved,
});
const rank = (history: readonly GroupOutcome[], step: number, seed = 1) =>
  rankTasks(ids, history, step, { retireAfter: 2, restSteps: 10 }, seed);

describe('the adaptive curriculum', () => {
  it('prefers tasks that succeed half of the time, keeps failures in play, and tells why', () => {
    const history = [outcome(1, 'a', 4), outcome(1, 'b', 0), outcome(1, 'c', 8), outcome(2, 'd', 8)];
    const first = { a: 0, b: 0, c: 0, d: 0, e: 0 } as Record<string, number>;
    for (let seed = 0; seed < 400; seed++) first[rank(history, 3, seed)[0].taskId]++;
    expect(Math.min(first.a, first.e)).toBeGreaterThan(2 * Math.max(first.b, first.c, first.d));
    expect(first.b).toBeGreaterThan(5);
    const why = Object.fromEntries(rank(history, 3).map((task) => [task.taskId, task.why]));
    expect(why).toEqual({
      a: 'solved about half of the time',
      b: 'never solved, kept in play',
      c: 'mostly solved',
      d: 'mostly solved',
      e: 'not played yet',
    });
  });

  it('lets a task rest that was solved by all, twice in a row, and brings it back', () => {
    const solved = [outcome(1, 'a', 8), outcome(2, 'a', 8)];
    for (let seed = 0; seed < 20; seed++)
      expect(rank(solved, 3, seed).at(-1)).toMatchObject({ taskId: 'a', weight: 0 });
    expect(rank(solved, 13).find(({ taskId }) => taskId === 'a')!.weight).toBeGreaterThan(0);
    expect(rank([...solved, outcome(3, 'a', 7)], 4).find(({ taskId }) => taskId === 'a')!.weight).toBeGreaterThan(0);
  });

  it('takes no notice of rollouts that the machine failed', () => {
    const history = [outcome(1, 'a', 8), outcome(2, 'a', 0, 0), outcome(3, 'a', 8)];
    expect(rank(history, 4).find(({ taskId }) => taskId === 'a')!.weight).toBe(0);
  });
});

describe('the plan of a step', () => {
  it('deals different tasks, all of them train tasks, and has the others in reserve', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 30 }),
        fc.boolean(),
        (perStep, step, isUniform) => {
          const settings = settingsOf({
            tasksPerStep: perStep,
            curriculum: { order: isUniform ? 'uniform' : 'adaptive' },
          });
          const plan = planStep(ids, [], settings, step);
          expect(plan.tasks).toHaveLength(Math.min(perStep, ids.length));
          expect([...plan.tasks, ...plan.reserves].map(({ taskId }) => taskId).sort()).toEqual(ids);
        },
      ),
    );
  });

  it('is the same for a run that was killed later and begins the step again', () => {
    const history = [stepEvent(1, [{ played: 4, resolved: 4 }]), stepEvent(2, [{ played: 4, resolved: 4 }])];
    const later = [
      ...history,
      stepEvent(3, [
        { played: 4, resolved: 0 },
        { played: 4, resolved: 2 },
      ]),
    ];
    expect(planStep(ids, later, adaptive, 3)).toEqual(planStep(ids, history, adaptive, 3));
    expect(chooseReplay(later, 3, replay())).toEqual(chooseReplay(history, 3, replay()));
  });

  it('lengthens the horizon and changes the temperature in straight lines', () => {
    const settings = settingsOf({ steps: 11, maxTurns: 10, curriculum: { horizonStart: 2, horizonSteps: 5 } });
    expect([1, 2, 3, 4, 5, 6, 11].map((step) => turnsAt(settings, step))).toEqual([2, 4, 6, 8, 10, 10, 10]);
    expect(turnsAt(settingsOf({ maxTurns: 7 }), 1)).toBe(7);
    const warming = settingsOf({ steps: 11, temperature: 0.7, exploration: { temperatureEnd: 1.2 } });
    expect([1, 6, 11].map((step) => temperatureAt(warming, step))).toEqual([0.7, expect.closeTo(0.95, 12), 1.2]);
    expect(temperatureAt(settingsOf({ temperature: 0.7 }), 9)).toBe(0.7);
    const settling = settingsOf({ steps: 11, exploration: { toolEpsilon: 0.2, toolEpsilonEnd: 0 } });
    expect([1, 6, 11].map((step) => toolEpsilonAt(settling, step))).toEqual([0.2, expect.closeTo(0.1, 12), 0]);
    expect(toolEpsilonAt(settingsOf({ exploration: { toolEpsilon: 0.2 } }), 9)).toBe(0.2);
    expect(toolEpsilonAt(settingsOf({}), 9)).toBe(0);
  });

  it('spreads the temperatures of a group around the one of the step, in a second group alike', () => {
    const of = (sample: number) => temperatureOfSample(1, 0.2, sample, 3);
    expect([0, 1, 2, 3].map(of)).toEqual([0.8, 1, 1.2, 0.8]);
    expect(temperatureOfSample(0.9, 0, 2, 3)).toBe(0.9);
  });
});

function replay(more: SettingsInput['replay'] = {}) {
  return settingsOf({ replay: { groups: 2, ...more } }).replay;
}

describe('the replay', () => {
  const history = [
    stepEvent(1, [{ advantages: [0.5, -0.5] }, { advantages: [0, 0] }]),
    stepEvent(2, [{ advantages: [2, -2] }, { advantages: [1, -1] }]),
  ];
  const chosen = (settings: SettingsInput['replay'], step = 3, events = history) =>
    chooseReplay(events, step, replay(settings)).map(({ trajectoryIds }) => trajectoryIds[0]);

  it('takes the oldest first, or those whose rewards differ most, and never a silent group', () => {
    expect(chosen({})).toEqual(['s1/0', 's2/0']);
    expect(chosen({ order: 'priority' })).toEqual(['s2/0', 's2/1']);
    expect(chosen({ groups: 9 })).toEqual(['s1/0', 's2/0', 's2/1']);
    expect(chosen({ groups: 0 })).toEqual([]);
  });

  it('takes no group that is too old or used up, nor what an offline loss was made of', () => {
    expect(chosen({ staleness: 1 })).toEqual(['s2/0', 's2/1']);
    const [used] = chooseReplay(history, 3, replay({ groups: 1 }));
    const third = stepEvent(3, [], { replayed: [{ ...used, advantages: [] }] });
    expect(chosen({}, 4, [...history, third])).toEqual(['s2/0', 's2/1']);
    expect(chosen({ uses: 2 }, 4, [...history, third])).toEqual(['s1/0', 's2/0']);
    expect(chosen({}, 3, [stepEvent(1, [{}], { method: 'dpo' })])).toEqual([]);
  });
});

describe('the stages of a run', () => {
  it('follow one another, and decide how many steps it has', () => {
    const settings = settingsOf({
      stages: [
        { method: 'rejection-sampling', steps: 2 },
        { method: 'dpo', steps: 1 },
        { method: 'policy-gradient', steps: 3 },
      ],
    });
    expect(settings.steps).toBe(6);
    const methods = [1, 2, 3, 4, 5, 6].map((step) => stageOfStep(settings, step).settings.method);
    expect(methods.join()).toBe(
      'rejection-sampling,rejection-sampling,dpo,policy-gradient,policy-gradient,policy-gradient',
    );
    expect([1, 2, 3, 4, 5, 6].filter((step) => isEndOfStage(settings, step))).toEqual([2, 3, 6]);
    expect(() => stageOfStep(settings, 7)).toThrow(/^internal:/);
    expect(() => settingsOf({ steps: 5, stages: [{ method: 'ipo', steps: 4 }] })).toThrow(/the stages have 4 steps/);
  });

  it('are the policy gradient alone where none is named', () => {
    expect(stageOfStep(settingsOf({ steps: 4 }), 4)).toMatchObject({ firstStep: 1, lastStep: 4 });
  });

  it('need a reference where the KL term or a loss does', () => {
    const reference = (more: SettingsInput) => needsReference(settingsOf(more));
    expect(reference({ klCoefficient: 0 })).toBe(false);
    expect(reference({ klCoefficient: 0.1 })).toBe(true);
    expect(reference({ klCoefficient: 0, stages: [{ method: 'simpo', steps: 1 }] })).toBe(false);
    expect(reference({ klCoefficient: 0, stages: [{ method: 'kto', steps: 1 }] })).toBe(true);
  });
});

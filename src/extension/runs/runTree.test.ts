import { describe, expect, it } from 'vitest';
import type { RunEvent, TrajectoryHeader } from '../../trainer/run/runRecord.js';
import { trajectoryOrders } from './runOrders.js';
import { meanReward, paged, phases, runNode, runOf, tasks, trajectories } from './runTree.js';

const run = runNode({
  findings: [],
  repository: { root: '/repo', name: 'repo', stateFolder: '/repo/.whetstone' },
  summary: {
    id: 'run',
    folder: '/repo/.whetstone/runs/run',
    status: 'running',
    stage: 'train',
    step: 1,
    steps: 2,
    createdAt: '2026-11-01T10:00:00Z',
    message: '',
  },
});

function header(kind: TrajectoryHeader['kind'], step: number, taskId: string, sample: number): TrajectoryHeader {
  return {
    id: `${kind}-${step}/${taskId}/${sample}`,
    kind,
    step,
    taskId,
    sample,
    reward: sample,
    resolved: sample > 0,
    stopReason: 'submitted',
    turns: 1,
    tokens: 10,
    seconds: 1,
    tools: ['open'],
    infrastructureError: null,
    sandbox: 'bubblewrap',
  };
}
const headers = [
  header('evaluation', 0, 'a', 0),
  header('rollout', 1, 'b', 1),
  header('rollout', 1, 'b', 0),
  header('rollout', 1, 'a', 0),
  header('evaluation', 1, 'a', 0),
];
const stepEvent: RunEvent = {
  at: '',
  type: 'step',
  step: 1,
  metrics: {},
  groups: [{ taskId: 'b', trajectoryIds: ['rollout-1/b/0', 'rollout-1/b/1'], advantages: [-1, 1] }],
};

describe('the tree of a run', () => {
  it('has evaluations and steps in the order they were played', () => {
    const found = phases(run, headers, [stepEvent]);
    expect(found.map(({ phase, step, isFirstEvaluation }) => [phase, step, isFirstEvaluation])).toEqual([
      ['evaluation', 0, true],
      ['rollout', 1, false],
      ['evaluation', 1, false],
    ]);
    expect(found.map(({ outcome }) => outcome?.type)).toEqual([undefined, 'step', undefined]);
  });

  it('groups by task, sorts by sample and finds the advantages', () => {
    const [, step] = phases(run, headers, [stepEvent]);
    expect(tasks(step).map(({ taskId }) => taskId)).toEqual(['b', 'a']);
    const rollouts = trajectories(tasks(step)[0]);
    expect(rollouts.map(({ header: { sample }, advantage }) => [sample, advantage])).toEqual([
      [0, -1],
      [1, 1],
    ]);
    expect(runOf(rollouts[0])).toBe(run);
  });

  it('gives everything an id that stays the same and is its own', () => {
    const all = () =>
      phases(run, headers, []).flatMap((phase) => [
        phase.id,
        ...tasks(phase).flatMap((task) => [task.id, ...trajectories(task).map(({ id }) => id)]),
      ]);
    expect(all()).toEqual(all());
    expect(new Set(all()).size).toBe(all().length);
  });

  it('lists many siblings in pages', () => {
    const many = phases(
      run,
      Array.from({ length: 250 }, (_, step) => header('rollout', step, 'a', 0)),
      [],
    );
    const pages = paged(run, many);
    expect(pages.map((page) => page.kind === 'page' && page.range)).toEqual([
      [1, 100],
      [101, 200],
      [201, 250],
    ]);
    expect(paged(run, many.slice(0, 100))).toHaveLength(100);
  });

  it('leaves ungraded trajectories out of a mean', () => {
    expect(meanReward([...headers.slice(1, 3), { ...headers[0], reward: null }])).toBe(0.5);
    expect(meanReward([])).toBeNull();
  });

  describe('in an order that the user chose', () => {
    const orderOf = (id: string) => trajectoryOrders.find((order) => order.id === id)!;
    const measured = (taskId: string, sample: number, rest: Partial<TrajectoryHeader>) => ({
      ...header('rollout', 1, taskId, sample),
      ...rest,
    });
    const many = [
      measured('a', 0, { reward: 0.5, tokens: 30 }),
      measured('a', 1, { reward: null, tokens: 10 }),
      measured('b', 0, { reward: 0.9, tokens: 20 }),
      measured('b', 1, { reward: 0.1, tokens: 40 }),
      measured('c', 0, { reward: null, tokens: 5 }),
    ];
    const [phase] = phases(run, many, []);
    const shown = (id: string) =>
      tasks(phase, orderOf(id)).map((task) => [
        task.taskId,
        ...trajectories(task, orderOf(id)).map((node) => node.header.sample),
      ]);

    it('has the trajectories of a task, and the tasks by the first of theirs, in it', () => {
      expect(shown('reward-down')).toEqual([
        ['b', 0, 1],
        ['a', 0, 1],
        ['c', 0],
      ]);
      expect(shown('reward-up')).toEqual([
        ['b', 1, 0],
        ['a', 0, 1],
        ['c', 0],
      ]);
      expect(shown('tokens-up')).toEqual([
        ['c', 0],
        ['a', 1, 0],
        ['b', 0, 1],
      ]);
    });

    it('is as it was played where they chose none', () => {
      expect(shown('played')).toEqual(
        tasks(phase).map((task) => [task.taskId, ...task.headers.map((one) => one.sample)]),
      );
    });

    it('keeps the ids of things, and pages what are too many', () => {
      const rollouts = Array.from({ length: 250 }, (_, sample) => measured('a', sample, { tokens: 1000 - sample }));
      const [task] = tasks(phases(run, rollouts, [])[0], orderOf('tokens-up'));
      const nodes = trajectories(task, orderOf('tokens-up'));
      expect(nodes[0].id).toBe(trajectories(task).at(-1)!.id);
      expect(paged(task, nodes)).toHaveLength(3);
    });
  });
});

import { describe, expect, it } from 'vitest';
import type { RunEvent, TrajectoryHeader } from '../../trainer/run/runRecord.js';
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
});

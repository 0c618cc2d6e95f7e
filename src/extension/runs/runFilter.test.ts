import { describe, expect, it } from 'vitest';
import type { Finding } from '../../trainer/doctor/finding.js';
import type { TrajectoryHeader } from '../../trainer/run/runRecord.js';
import { choiceOf, fits } from '../facets.js';
import { rewardBand, runFacets } from './runFilter.js';

const header: TrajectoryHeader = {
  id: 'step-000001/a/0',
  kind: 'rollout',
  step: 1,
  taskId: 'a',
  sample: 0,
  reward: 0.3,
  resolved: false,
  stopReason: 'turn-limit',
  turns: 1,
  tokens: 10,
  seconds: 1,
  tools: ['open', 'edit'],
  infrastructureError: null,
  sandbox: '',
};
const about = (mode: Finding['mode'], trajectoryId: string | null, step: number): Finding => ({
  mode,
  severity: 'warning',
  message: '',
  evidence: { step, trajectoryId, token: null },
  causes: [],
  remedy: '',
});
const findings = [about('loops', header.id, 1), about('equal-rewards', null, 1), about('truncation', 'another', 1)];
const shows = (facet: string, value: string, changed: Partial<TrajectoryHeader> = {}) =>
  fits(runFacets, choiceOf([{ facet, value }]), { header: { ...header, ...changed }, findings });

describe('the filter of the runs', () => {
  it('goes by outcome, a failure of the machine apart', () => {
    expect(shows('outcome', 'failed')).toBe(true);
    expect(shows('outcome', 'failed', { infrastructureError: 'disk full' })).toBe(false);
    expect(shows('outcome', 'machine-error', { infrastructureError: 'disk full' })).toBe(true);
  });

  it('goes by tool, task, and how it ended', () => {
    expect(shows('tool', 'edit') && shows('task', 'a') && shows('ended', 'turn-limit')).toBe(true);
    expect(shows('tool', 'submit')).toBe(false);
  });

  it('goes by what the doctor found: in the trajectory itself, or in its step', () => {
    expect(shows('finding', 'loops') && shows('finding', 'equal-rewards')).toBe(true);
    expect(shows('finding', 'truncation')).toBe(false);
    expect(shows('finding', 'equal-rewards', { kind: 'evaluation' })).toBe(false);
  });

  it.each([
    [null, 'none'],
    [-0.1, 'below-0'],
    [0, '0-to-0.5'],
    [0.5, '0.5-to-1'],
    [1.2, '1-and-above'],
  ])('calls a reward of %s %s', (reward, band) => expect(rewardBand(reward)).toBe(band));
});

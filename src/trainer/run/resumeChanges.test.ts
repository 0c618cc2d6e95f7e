import { expect, it } from 'vitest';
import { changedSettings } from './resumeChanges.js';
import { parseSettings } from './settings.js';

it('changes of a resumed run are taken over and listed, and what stays the same is no change', () => {
  const before = parseSettings({ learningRate: 1e-5, checkpoints: { keepLast: 3 } });
  const { settings, changes } = changedSettings(before, {
    learningRate: 1e-6,
    device: before.device,
    workers: ['http://127.0.0.1:1'],
    checkpoints: { keepEvery: 10, keepLast: undefined },
  });
  expect(settings).toEqual({
    ...before,
    learningRate: 1e-6,
    workers: ['http://127.0.0.1:1'],
    checkpoints: { ...before.checkpoints, keepEvery: 10 },
  });
  expect(changes).toEqual([
    { setting: 'learningRate', from: 1e-5, to: 1e-6 },
    { setting: 'workers', from: 'none', to: 'http://127.0.0.1:1' },
    { setting: 'checkpoints.keepEvery', from: 0, to: 10 },
  ]);
  expect(changedSettings(before, { workers: [] }).changes).toEqual([]);
  expect(changedSettings(before, {})).toEqual({ settings: before, changes: [] });
});

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readForeignCurves } from './curves.js';

/** Written by the trainers' own code: scripts/golden/curves.py. */
const golden = (name: string) =>
  readFileSync(path.join(import.meta.dirname, '../../../test-fixtures/interop', name), 'utf8');

it("reads the state of transformers' Trainer: steps with their evaluations, without the sums and what is no number", () => {
  expect(readForeignCurves(golden('trainer_state.json'), 'trainer_state.json')).toEqual({
    format: 'transformers',
    steps: [
      {
        step: 1,
        metrics: { epoch: 0.5, grad_norm: 1.5, kl: 0, learning_rate: 1e-6, loss: 0.25, reward: 0.5, reward_std: 0.25 },
      },
      {
        step: 2,
        metrics: { epoch: 1, reward: 0.625, reward_std: 0.125, eval_reward: 0.75, eval_runtime: 3.5, total_flos: 0 },
      },
    ],
  });
});

it("reads what verl's logger wrote to a file", () => {
  expect(readForeignCurves(golden('verl-log.jsonl'), 'log.jsonl')).toEqual({
    format: 'verl-log',
    steps: [
      { step: 1, metrics: { 'critic/rewards/mean': 0.5, 'actor/kl_loss': 0.001, 'training/global_step': 1 } },
      { step: 2, metrics: { 'critic/rewards/mean': 0.75 } },
    ],
  });
});

it('leaves every other file to others, and says which entry has no step', () => {
  for (const text of ['', 'not JSON', '[]', '{"log_history": []}', '{"messages": []}', golden('verl.jsonl')]) {
    expect(readForeignCurves(text, 'x')).toBe(null);
  }
  expect(() => readForeignCurves('{"global_step": 1, "log_history": [{"loss": 1}]}', 'state.json')).toThrow(
    /state\.json: entry 1: it has no step/,
  );
  expect(() => readForeignCurves('{"step": -1, "data": {"a": 1}}', 'log.jsonl')).toThrow(/entry 1: it has no step/);
});

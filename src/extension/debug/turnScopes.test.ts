import { describe, expect, it } from 'vitest';
import type { LearnedTokens } from '../../trajectory/trajectory.js';
import { recordedTrajectory, ScriptedReplay } from './scripted.testing.js';
import { Snapshots } from './snapshots.js';
import { RecordedTurns } from './turnScopes.js';
import { valueOf, type Value } from './values.js';

const count = recordedTrajectory.nodes.reduce((sum, node) => sum + node.tokenIds.length, 0);
const learned: LearnedTokens = {
  trajectoryId: recordedTrajectory.id,
  step: 1,
  // The second turn's tokens are those at 8 and 9.
  advantages: Float32Array.from({ length: count }, (_, at) => (at === 8 ? 1 : at === 9 ? 3 : 0)),
  learnerLogprobs: new Float32Array(count).fill(-0.5 + Math.log(2)),
  referenceLogprobs: new Float32Array(count).fill(-0.5),
  coefficients: Float32Array.from({ length: count }, (_, at) => (at === 8 || at === 9 ? -0.25 : 0)),
};

const asObject = (scope: Value | undefined) =>
  Object.fromEntries((scope?.children ?? []).map(({ name, value }) => [name, value]));

describe('the scopes of a turn', () => {
  it('tell what the learner made of its tokens, and of no other turn’s', async () => {
    const recorded = new RecordedTurns(recordedTrajectory, learned);
    const snapshots = new Snapshots(new ScriptedReplay());
    const scopes = recorded.scopes((await snapshots.turn(2))!);
    expect(asObject(scopes.find(({ name }) => name === 'Tokens'))).toEqual({
      'sampled tokens': '2',
      'mean log-prob': '-0.5',
      perplexity: '1.6487',
      'mean entropy': '0.25',
      'mean advantage': '2',
      'mean ratio': '2',
      'mean log-prob against reference': '0.69315',
      'sum of coefficients': '-0.5',
    });
  });

  it('say before the first turn what was asked, and of what', () => {
    const recorded = new RecordedTurns(recordedTrajectory, null);
    const [prompt, episode] = recorded.startScopes('task-1', 'bubblewrap', [{ path: 'a.js', before: '', after: 'x' }]);
    expect(asObject(prompt)).toEqual({ system: '"You mend code."', user: '"Mend it."' });
    expect(asObject(episode)).toMatchObject({ task: '"task-1"', 'oracle changes': '"a.js"' });
  });
});

describe('a value in the debugger', () => {
  it('has the lines of a text inside, and is one line itself', () => {
    const value = valueOf('observed', 'one\ntwo');
    expect(value).toMatchObject({ value: '"one\\ntwo"', whole: 'one\ntwo' });
    expect(value.children.map(({ name, value: line }) => [name, line])).toEqual([
      ['1', 'one'],
      ['2', 'two'],
    ]);
  });

  it('shows what would hide or turn the text', () => {
    const value = valueOf('a\u202eb', '\u001b[31mred\u202e');
    expect(value.name).toBe('a\\u{202e}b');
    expect(value.value).toBe('"\\u001b[31mred\\u{202e}"');
  });

  it('is cut where it is very long, and copied whole', () => {
    const value = valueOf('long', 'x'.repeat(10_000));
    expect(value.value.length).toBeLessThan(1100);
    expect(value.whole).toHaveLength(10_000);
  });
});

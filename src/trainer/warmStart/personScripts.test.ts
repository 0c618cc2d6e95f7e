import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { folderEnvironment, makeTask, type FakeTests } from '../../env/folderEnvironment.testing.js';
import type { AssistantMessage } from '../../trajectory/message.js';
import { loadCheckpoint } from '../model/checkpoint.js';
import { environmentArena, samplingOptions } from '../rollout/environmentArena.js';
import { trainingSequence } from '../rollout/nodes.js';
import { parseSettings } from '../run/settings.js';
import type { TextCodec } from '../text/textCodec.js';
import { writeTinyPolicy } from '../tinyPolicy.testing.js';
import { playDemonstrations } from './demonstrations.js';
import { personScripts } from './personScripts.js';
import { toolCall } from './turnText.js';

let codec: TextCodec;
beforeAll(async () => {
  const root = mkdtempSync(path.join(os.tmpdir(), 'whetstone-person-'));
  ({ codec } = await loadCheckpoint(await writeTinyPolicy(root)));
  return () => rmSync(root, { recursive: true });
});

const says = (name: string, args: Record<string, unknown>, thought?: string): AssistantMessage => ({
  role: 'assistant',
  content: '',
  ...(thought === undefined ? {} : { thinking: thought }),
  toolCalls: [{ id: 'call-0', name, arguments: args }],
  raw: toolCall(name, args),
});
const task = makeTask(
  { FAIL_TO_PASS: ['low'], PASS_TO_PASS: ['high'], patch: '--- a/a.js\n+++ b/a.js\n@@ -1 +1 @@\n-wrong\n+right\n' },
  { test_files: ['test/a.test.js'] },
);
const turns = [
  says('open', { path: 'a.js' }),
  says('edit', { path: 'a.js', old: 'wrong', new: 'right' }, 'right is wanted\nand "quoted"'),
  says('submit', {}),
];
const demonstration = { taskId: task.instance_id, sample: 0, turns, given: 1 };

const runTests: FakeTests = (root) => {
  const isRight = readFileSync(path.join(root, 'a.js'), 'utf8') === 'right\n';
  const result = (id: string, passes: boolean) =>
    ({ id, file: 'test/a.test.js', name: id, status: passes ? 'passed' : 'failed', message: '' }) as const;
  return Promise.resolve({ results: [result('low', isRight), result('high', true)] });
};

describe("a person's demonstration", () => {
  it("is played again in the policy's own tokens, and only what the person said is learned from", async () => {
    const environment = await folderEnvironment({ 'a.js': 'wrong\n', 'test/a.test.js': '' }, runTests);
    try {
      const settings = parseSettings({});
      const people = personScripts([demonstration], [task], codec);
      expect(people.map(({ plan }) => plan.id)).toEqual([`demonstration/${task.instance_id}/1`]);
      const stored: string[] = [];
      const schedule = {
        concurrency: 1,
        signal: new AbortController().signal,
        gate: () => Promise.resolve(),
        onTrajectory: (one: { id: string; origin?: unknown }) =>
          stored.push(`${one.id}${one.origin === undefined ? '' : ' a branch'}`),
      };
      const options = samplingOptions(settings, 'rollout');
      const arena = environmentArena(environment, settings);
      const nothing = () => Promise.resolve(null);
      const played = await playDemonstrations(arena, codec, [], 'choose', people, 1e5, options, schedule, nothing);
      const [trajectory] = played;
      expect(trajectory).toMatchObject({ kind: 'demonstration', grade: { resolved: true }, stopReason: 'submitted' });
      // The record stands for itself: in this run there is nothing that it branches from.
      expect(stored).toEqual([people[0]!.plan.id]);
      const { tokenIds, actionMask } = trainingSequence(trajectory!);
      const learned = tokenIds.filter((_, index) => actionMask[index] === 1);
      expect([...learned]).toEqual([...people[0]!.turns[1]!, ...people[0]!.turns[2]!]);
      expect(codec.decode(learned)).toContain('right is wanted\nand "quoted"');
    } finally {
      await environment.dispose();
    }
  });

  it('is left out where the task is none of the run, or a turn cannot be written in the policy’s format', () => {
    const silent: AssistantMessage = { role: 'assistant', content: 'I give up.', toolCalls: [], raw: 'I give up.' };
    expect(personScripts([{ ...demonstration, taskId: 'other' }], [task], codec)).toEqual([]);
    expect(personScripts([{ ...demonstration, turns: [silent] }], [task], codec)).toEqual([]);
  });
});

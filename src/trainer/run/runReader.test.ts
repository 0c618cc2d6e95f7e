import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { readHeaderIndex } from './headerIndex.js';
import { runPaths, type RunPaths } from './runDirectory.js';
import { openRun, type RunReader } from './runReader.js';
import { RunWriter } from './runWriter.js';
import { headerOf, trajectoryLineSchema } from './trajectoryLine.js';

function trajectoryOf(id: string, seed: number): Trajectory {
  return {
    id,
    kind: seed % 3 === 0 ? 'evaluation' : 'rollout',
    step: seed >> 2,
    taskId: `task ${seed % 2}`,
    split: 'train',
    sample: seed & 3,
    seed,
    temperature: 1,
    policyStep: 0,
    sandbox: 'unconfined',
    nodes: [],
    stopReason: seed % 5 === 0 ? 'error' : 'submitted',
    infrastructureError: seed % 5 === 0 ? 'it broke ‽' : null,
    grade: seed % 5 === 0 ? null : { reward: seed / 7, resolved: false, components: {}, tests: [], files: [] },
    patch: 'x'.repeat(seed % 11),
    statistics: {
      turns: seed,
      toolCalls: seed % 2 === 0 ? { open: 2, edit: 1 } : {},
      malformedCalls: 0,
      unknownTools: 0,
      invalidArguments: 0,
      validCalls: 2,
      sampledTokens: 0,
      totalTokens: seed * 3,
      seconds: seed / 3,
    },
  };
}

/** Reads all there is, every time, and holds it all. */
function simply(file: string) {
  const whole = fs.readFileSync(file, 'utf8').split('\n').slice(0, -1);
  const lines = whole.map((line) => trajectoryLineSchema.parse(JSON.parse(line)));
  return new Map(lines.map((line) => [line.id, line]));
}

const cut = (file: string, bytes: number) => fs.truncateSync(file, Math.max(0, fs.statSync(file).size - bytes));

/** What can happen to a record; `lost`: the machine crashed, and with it whoever read it. */
type Happening =
  | { readonly id: string; readonly seed: number }
  | { readonly cut: 'index' | 'lost' | 'torn'; readonly bytes: number }
  | 'read';
const arbitraryHappening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ id: fc.constantFrom('a', 'a/0', 'a/1', 'b/0', 'b/1', '/', 'é/ü'), seed: fc.nat(99) }),
  },
  { weight: 2, arbitrary: fc.record({ cut: fc.constantFrom('index', 'lost', 'torn'), bytes: fc.nat(900) }) },
  { weight: 1, arbitrary: fc.constant('read') },
);

it('gives what one that holds the whole record gives, whatever happened to it; who writes on mends the index', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(arbitraryHappening, { maxLength: 14 }), async (happenings) => {
      const stateFolder = fs.mkdtempSync(path.join(os.tmpdir(), 'whetstone reader '));
      try {
        const paths: RunPaths = runPaths(path.join(stateFolder, 'runs', 'run'));
        fs.mkdirSync(paths.folder, { recursive: true });
        fs.writeFileSync(paths.config, '{}');
        new RunWriter(paths).close();
        let reader: RunReader = openRun(stateFolder, 'run');
        for (const happening of happenings) {
          if (happening === 'read') await reader.headers();
          else if ('id' in happening) {
            const writer = new RunWriter(paths);
            writer.trajectory(trajectoryOf(happening.id, happening.seed));
            writer.close();
            expect((await readHeaderIndex(paths)).end).toBe(fs.statSync(paths.trajectories).size);
          } else if (happening.cut === 'index') cut(paths.headers, happening.bytes);
          else if (happening.cut === 'torn') fs.appendFileSync(paths.trajectories, '{"id":"a","kind":"roll');
          else {
            cut(paths.trajectories, happening.bytes);
            reader = openRun(stateFolder, 'run');
          }
        }
        const expected = simply(paths.trajectories);
        for (const one of [reader, openRun(stateFolder, 'run')]) {
          expect(await one.headers()).toEqual([...expected.values()].map(headerOf));
          for (const [id, { patch, seed }] of expected)
            expect(await one.trajectory(id)).toMatchObject({ id, patch, seed });
          expect(await one.findTrajectory('none')).toBeNull();
          const some = await one.headers(({ taskId }) => taskId === 'task 1');
          expect(some).toEqual([...expected.values()].map(headerOf).filter(({ taskId }) => taskId === 'task 1'));
        }
      } finally {
        fs.rmSync(stateFolder, { recursive: true });
      }
    }),
    { numRuns: 60 },
  );
}, 60_000);

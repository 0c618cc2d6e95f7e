import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSettings, settingsFileName, settingsSchema } from '../../trainer/run/settings.js';
import { addTrainCommand, chosenChanges, chosenSettings } from './train.js';

let root: string;
beforeEach(() => (root = mkdtempSync(path.join(os.tmpdir(), 'whetstone-train-'))));
afterEach(() => rmSync(root, { recursive: true }));

/** The settings that a command line leads to, in a repository that may have a settings file. */
const settingsOf = async (...line: string[]) => loadSettings(root, chosenSettings(parsed(...line)));

function parsed(...line: string[]) {
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  addTrainCommand(program);
  const [command] = program.commands;
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  command.action(() => undefined);
  program.parse(['train', ...line], { from: 'user' });
  return command.opts<Parameters<typeof chosenSettings>[0]>();
}

describe('the options of whetstone train', () => {
  it('choose the algorithm by the words of the settings', async () => {
    const line =
      '--advantage rloo --loss dapo --clip-low 0.1 --clip-high 0.28 --dual-clip 3 --kl 0.05 --kl-estimator k1 --kl-place reward ' +
      '--entropy-coefficient 0.01 --importance-correction token-mask --importance-low 0.5 --importance-high 2';
    const { algorithm, ...settings } = await settingsOf(...line.split(' '));
    expect(algorithm).toMatchObject({
      advantage: 'rloo',
      loss: 'dapo',
      dualClip: 3,
      klEstimator: 'k1',
      klPlace: 'reward',
      entropyCoefficient: 0.01,
      importanceCorrection: 'token-mask',
      importanceLow: 0.5,
      importanceHigh: 2,
    });
    expect(settings).toMatchObject({ clipLow: 0.1, clipHigh: 0.28, klCoefficient: 0.05 });
  });

  it('let rollouts branch', async () => {
    const { algorithm } = await settingsOf(...'--pivots 2 --continuations 3 --macro-turns 4'.split(' '));
    expect(algorithm).toMatchObject({ pivots: 2, continuations: 3, macroTurns: 4 });
    await expect(settingsOf('--pivots', '1', '--advantage', 'igpo')).rejects.toThrow(
      /with `pivots` the advantage must be/,
    );
  });

  it('leave what they do not name to the file and the defaults', async () => {
    expect(await settingsOf()).toEqual(settingsSchema.parse({}));
    writeFileSync(path.join(root, settingsFileName), '{"algorithm": {"advantage": "rloo", "loss": "gspo"}}');
    const { algorithm } = await settingsOf('--loss', 'cispo');
    expect(algorithm).toMatchObject({ advantage: 'rloo', loss: 'cispo', klPlace: 'loss' });
  });

  it.each([['--loss ppo'], ['--advantage best'], ['--kl-estimator k4'], ['--dual-clip x']])(
    'refuse what there is not: %s',
    async (line) => {
      await expect(settingsOf(...line.split(' '))).rejects.toThrow(/invalid/);
    },
  );

  it('choose an adapter and what it changes', async () => {
    const line = '--lora-rank 8 --lora-alpha 16 --lora-targets v_proj,q_proj';
    expect((await settingsOf(...line.split(' '))).lora).toEqual({ rank: 8, alpha: 16, targets: ['q_proj', 'v_proj'] });
    await expect(settingsOf('--lora-targets', 'q_proj,embed')).rejects.toThrow(/Name some of q_proj/);
  });

  it('choose the stages of a run, its curriculum, exploration, replay and checkpoints', async () => {
    const line =
      '--stages rejection-sampling:5,dpo:2,policy-gradient:20 --warm-start-negative-weight 0.1 --curriculum adaptive ' +
      '--horizon-start 3 --horizon-steps 9 --retire-after 4 --rest-steps 6 --temperature-end 1.2 --temperature-spread 0.1 ' +
      '--tool-epsilon 0.2 --tool-epsilon-end 0 ' +
      '--replay 2 --replay-order priority --replay-staleness 8 --replay-uses 3 --max-staleness 2 --keep-last 3 --no-keep-best --keep-every 50 ' +
      '--disk-gigabytes 4 --dynamic-sampling 2 --overlong-buffer 100 --overlong-length 900 --overlong-factor 0.5 ' +
      '--mask-truncated --advantage gigpo --turn-discount 0.9 --step-weight 0.5';
    const settings = await settingsOf(...line.split(' '));
    expect(settings).toMatchObject({
      steps: 27,
      warmStartNegativeWeight: 0.1,
      stages: [
        { method: 'rejection-sampling', steps: 5, keep: 4 },
        { method: 'dpo', steps: 2, recorded: false },
        { method: 'policy-gradient', steps: 20 },
      ],
      curriculum: { order: 'adaptive', horizonStart: 3, horizonSteps: 9, retireAfter: 4, restSteps: 6 },
      exploration: { temperatureEnd: 1.2, temperatureSpread: 0.1, toolEpsilon: 0.2, toolEpsilonEnd: 0 },
      replay: { groups: 2, order: 'priority', staleness: 8, uses: 3 },
      asynchrony: { maxStaleness: 2 },
      checkpoints: { keepLast: 3, keepBest: false, keepEvery: 50, diskGigabytes: 4 },
      algorithm: {
        dynamicSampling: 2,
        overlongBuffer: 100,
        overlongLength: 900,
        overlongFactor: 0.5,
        maskTruncated: true,
        advantage: 'gigpo',
        turnDiscount: 0.9,
        stepWeight: 0.5,
      },
    });
    writeFileSync(path.join(root, settingsFileName), '{"checkpoints": {"keepBest": false, "keepLast": 7}}');
    expect((await settingsOf('--keep-last', '4')).checkpoints).toMatchObject({ keepBest: false, keepLast: 4 });
    await expect(settingsOf('--stages', 'dpo:2,magic:3')).rejects.toThrow(/"magic:3" is no METHOD:STEPS/);
    await expect(settingsOf('--stages', 'dpo:2', '--steps', '3')).rejects.toThrow(/the stages have 2 steps/);
  });

  it('change of a resumed run only what may change', () => {
    const changes = chosenChanges(parsed('--resume', 'last', '--learning-rate', '1e-6', '--keep-every', '10'));
    expect(changes).toEqual({ learningRate: 1e-6, checkpoints: { keepEvery: 10 } });
    expect(chosenChanges(parsed('--resume', 'last'))).toEqual({});
    expect(() => chosenChanges(parsed('--resume', 'last', '--group-size', '4'))).toThrow(/keeps its own `groupSize`/);
    expect(() => chosenChanges(parsed('--resume', 'last', '--loss', 'dapo'))).toThrow(/keeps its own `algorithm`/);
  });

  it('choose how the learning rate changes and what the learner may keep', async () => {
    const { optimizer, activationMemory, precision } = await settingsOf(
      ...'--schedule cosine --warmup-steps 5 --activation-memory 256 --precision float16'.split(' '),
    );
    expect(optimizer).toMatchObject({ schedule: 'cosine', warmupSteps: 5, beta2: 0.999 });
    expect(activationMemory).toBe(256);
    expect(precision).toBe('float16');
    expect(() => chosenChanges(parsed('--resume', 'last', '--precision', 'float16'))).toThrow(
      /keeps its own `precision`/,
    );
  });

  it('refuse a dual clip that would cut every ratio', async () => {
    await expect(settingsOf('--dual-clip', '0.5')).rejects.toThrow(/`algorithm.dualClip`: it must be above 1/);
  });
});

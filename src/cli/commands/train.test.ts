import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSettings, settingsFileName, settingsSchema } from '../../trainer/run/settings.js';
import { addTrainCommand, chosenSettings } from './train.js';

let root: string;
beforeEach(() => (root = mkdtempSync(path.join(os.tmpdir(), 'whetstone-train-'))));
afterEach(() => rmSync(root, { recursive: true }));

/** The settings that a command line leads to, in a repository that may have a settings file. */
async function settingsOf(...line: string[]) {
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  addTrainCommand(program);
  const [command] = program.commands;
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  command.action(() => undefined);
  program.parse(['train', ...line], { from: 'user' });
  return loadSettings(root, chosenSettings(command.opts()));
}

describe('the options of whetstone train', () => {
  it('choose the algorithm by the words of the settings', async () => {
    const line =
      '--advantage rloo --loss dapo --clip-low 0.1 --clip-high 0.28 --dual-clip 3 --kl 0.05 --kl-estimator k1 --kl-place reward ' +
      '--entropy-coefficient 0.01 --importance-correction token-mask --importance-low 0.5 --importance-high 2';
    const { algorithm, ...settings } = await settingsOf(...line.split(' '));
    expect(algorithm).toEqual({
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

  it('refuse a dual clip that would cut every ratio', async () => {
    await expect(settingsOf('--dual-clip', '0.5')).rejects.toThrow(/`algorithm.dualClip`: it must be above 1/);
  });
});

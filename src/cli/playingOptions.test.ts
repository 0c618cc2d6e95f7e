import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSettings, settingsFileName, settingsSchema } from '../trainer/run/settings.js';
import { addEvaluateCommand } from './commands/evaluate.js';
import { addTrainCommand } from './commands/train.js';
import type { AddCommand } from './options.js';
import { playingSettings, type PlayingOptions } from './playingOptions.js';

let root: string;
beforeEach(() => (root = mkdtempSync(path.join(os.tmpdir(), 'whetstone-playing-'))));
afterEach(() => rmSync(root, { recursive: true }));

describe.each<[string, AddCommand]>([
  ['train', addTrainCommand],
  ['eval', addEvaluateCommand],
])('how episodes are played, whetstone %s', (name, add) => {
  const silent = { writeErr: () => undefined };
  const settingsOf = (line = '') => {
    const program = new Command().exitOverride().configureOutput(silent);
    add(program);
    const [command] = program.commands;
    command!
      .exitOverride()
      .configureOutput(silent)
      .action(() => undefined);
    program.parse([name, ...line.split(' ').filter((word) => word !== '')], { from: 'user' });
    return loadSettings(root, playingSettings(command!.opts<PlayingOptions>()));
  };

  it('is told by options', async () => {
    const line =
      '--temperature 0.8 --top-p 0.9 --top-k 40 --min-p 0.05 --tool-format react --constrained-calls --kept-observations 3 ' +
      '--context-threshold dynamic --context-share 0.5 --context-summary --self-check --max-turns 20 --max-tokens-per-turn 500';
    const said = {
      ...{ temperature: 0.8, topP: 0.9, topK: 40, minP: 0.05, toolFormat: 'react', constrainedCalls: true },
      ...{ keptObservations: 3, contextThreshold: 'dynamic', contextShare: 0.5, contextSummary: true },
      ...{ selfCheck: true, maxTurns: 20, maxTokensPerTurn: 500 },
    };
    expect(await settingsOf(line)).toEqual({ ...settingsSchema.parse({}), ...said });
  });

  it('is left to the file and the defaults where they say nothing', async () => {
    expect(await settingsOf()).toEqual(settingsSchema.parse({}));
    writeFileSync(path.join(root, settingsFileName), '{"selfCheck": true, "maxTurns": 4}');
    expect(await settingsOf('--max-turns 5')).toMatchObject({ selfCheck: true, maxTurns: 5 });
  });

  it.each([
    ['--max-turns 0', /at least 1/],
    ['--tool-format xml', /Allowed choices are auto, qwen3-coder, hermes/],
    ['--context-threshold full', /Allowed choices are share, dynamic/],
    ['--top-p 1.5', /setting `topP`/],
    ['--context-share 0', /setting `contextShare`/],
    ['--kept-observations some', /whole number/],
  ])('is refused where it cannot be: %s', async (line, problem) => {
    await expect((async () => settingsOf(line))()).rejects.toThrow(problem);
  });
});

it('what only a model of ours knows is not said of another policy', () => {
  for (const flag of ['--constrained-calls', '--context-summary', '--kept-observations 2', '--tool-format react']) {
    const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
    addEvaluateCommand(program);
    program.commands[0]!.exitOverride().configureOutput({ writeErr: () => undefined });
    expect(() => program.parse(['eval', '--policy', 'expert', ...flag.split(' ')], { from: 'user' })).toThrow(
      /cannot be used with option '--policy/,
    );
  }
});

import { describe, expect, it } from 'vitest';
import type { Outlook } from '../trainer/estimate/outlook.js';
import { refusalToPlayAhead } from '../trainer/model/playedWeights.js';
import { outlookLines } from './outlook.js';

const parts = { weights: 0, learning: 0, reference: 0, activations: 0, caches: 0, program: 0 };
const outlook: Outlook = {
  model: 'embedded',
  parameters: 2_164_416,
  trained: 2_164_416,
  adapter: null,
  episode: { tokens: 2048, sampled: 2000, run: null, besideSeconds: null },
  heldoutEpisodes: null,
  auto: 'cpu',
  devices: [
    {
      name: 'cpu',
      memory: { ...parts, total: 848_024_883 },
      time: { rollouts: 60, learning: 39.4, step: 99.4, evaluations: null, training: 7200 },
      refusal: null,
    },
    {
      name: 'webgpu',
      memory: { ...parts, total: 3 * 2 ** 30 },
      time: { rollouts: 1, learning: 1.234, step: 2.234, evaluations: null, training: 119 },
      refusal: null,
    },
  ],
};

describe('what a training would take, in words', () => {
  it('has no more digits than an estimate deserves, and says what it rests on', () => {
    expect(outlookLines(outlook, { steps: 20, asynchrony: { maxStaleness: 0 } }).join('\n')).toMatchInlineSnapshot(`
      "embedded: 2.2 million parameters, all of them trained

      device  memory         a step       of it learning  training
      ------  -------------  -----------  --------------  -----------
      cpu     about 810 MiB  about 99 s   about 39 s      about 2 h
      webgpu  about 3 GiB    about 2.2 s  about 1.2 s     about 2 min

      The training is 20 steps, the evaluations are left out, since no tasks were built yet.
      Estimated from the model's shape, the settings and the measured speed of the device, for episodes
      as long as they may be: 2048 tokens, 2000 of them sampled.
      Their commands and tests come on top."
    `);
  });

  it('names the run that episodes are taken to be like, an adapter, and the evaluations', () => {
    const episode = { tokens: 1263.75, sampled: 229.1, run: 'earlier', besideSeconds: 6.78 };
    const known = { ...outlook, trained: 233_472, episode, heldoutEpisodes: 18 };
    const lines = outlookLines(known, { steps: 1, asynchrony: { maxStaleness: 0 } });
    expect(lines.filter((line) => !line.includes('about')).join('\n')).toMatchInlineSnapshot(`
      "embedded: 2.2 million parameters, an adapter of 0.23 million is trained


      The training is 1 step, and two evaluations of 18 episodes.
      Estimated from the model's shape, the settings and the measured speed of the device, for episodes
      like those of run earlier: 1264 tokens, 229 of them sampled.
      Their commands and tests are counted as 6.8 s each, as they were there."
    `);
  });

  it('says where nothing can be played ahead, and what goes on during what', () => {
    const devices = outlook.devices.map((device) => ({
      ...device,
      refusal: refusalToPlayAhead(device.name)?.said ?? null,
    }));
    const lines = outlookLines({ ...outlook, devices }, { steps: 20, asynchrony: { maxStaleness: 1 } });
    expect(lines.join('\n')).toMatchInlineSnapshot(`
      "embedded: 2.2 million parameters, all of them trained

      device  memory         a step      of it learning  training
      ------  -------------  ----------  --------------  ---------
      cpu     about 810 MiB  about 99 s  about 39 s      about 2 h

      Setting \`asynchrony.maxStaleness\`: on 'webgpu' learner and generator share their weights, so nothing can be played with older ones. Use --max-staleness 0, or another device, e.g. --device cpu.

      The training is 20 steps, the evaluations are left out, since no tasks were built yet.
      Estimated from the model's shape, the settings and the measured speed of the device, for episodes
      as long as they may be: 2048 tokens, 2000 of them sampled.
      Their commands and tests come on top.
      Learning is counted as going on while they run, but for the last step of a stage; computing as if by turns."
    `);
  });
});

import { strict as assert } from 'node:assert';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { supervisedCoefficients } from '../../src/trainer/algorithm/supervised.js';
import { optimizerOptions } from '../../src/trainer/learnerCalls.js';
import { loadPolicy, type Policy } from '../../src/trainer/loadPolicy.js';
import { loadCheckpoint } from '../../src/trainer/model/checkpoint.js';
import { createGenerator } from '../../src/trainer/model/generator.js';
import type { SequenceScores, TrainingSequence } from '../../src/trainer/model/policy.js';
import { parseSettings } from '../../src/trainer/run/settings.js';

interface Reference {
  continuations: { prompt: string; promptIds: number[]; newIds: number[]; logprobs: number[]; text: string }[];
  texts: { text: string; ids: number[] }[];
}

/** Throws where anything differs from `smollm2_gguf.json`. */
export async function check(file: string, referenceFile: string): Promise<void> {
  const reference = JSON.parse(readFileSync(referenceFile, 'utf8')) as Reference;
  const started = Date.now();
  const { config, parameters, codec } = await loadCheckpoint(file);
  console.log(`loaded in ${((Date.now() - started) / 1000).toFixed(1)} s`);
  for (const { text, ids } of reference.texts) assert.deepEqual([...codec.encode(text)], ids, text);

  const common = { config, parameters, device: 'cpu', slots: 5, maxContext: 256 } as const;
  const generator = await createGenerator({ ...common, deterministic: false });
  const results = await Promise.all(
    reference.continuations.map(({ prompt, promptIds, newIds }, index) => {
      const nodes = codec.promptNodes([{ role: 'user', content: prompt }], []);
      assert.deepEqual(
        nodes.flatMap(({ tokenIds }) => [...tokenIds]),
        promptIds,
        prompt,
      );
      const greedy = { temperature: 1, topP: 1, topK: 1, seed: 1, maxNewTokens: newIds.length };
      const tokenIds = Int32Array.from(promptIds);
      return generator.generate({ ...greedy, tokenIds, sessionId: String(index), stopTokenIds: codec.stopTokenIds });
    }),
  );
  reference.continuations.forEach(({ prompt, newIds, logprobs, text }, index) => {
    assert.deepEqual([...results[index]!.tokenIds], newIds, prompt);
    logprobs.forEach((wanted, i) =>
      assert.ok(Math.abs(results[index]!.logprobs[i]! - wanted) < 1e-3, `${prompt} ${i}`),
    );
    console.log(`as transformers: ${JSON.stringify(prompt)} -> ${JSON.stringify(text)}`);
  });
  await generator.dispose();
}

/** What the policy learns: a call of a tool in answer to each wish, which no chat model gives of itself. */
const lessons = [
  ['The test of sum.js fails. Look at it.', { name: 'open', arguments: { path: 'src/sum.js' } }],
  ['Where is parseDate used?', { name: 'search', arguments: { pattern: 'parseDate' } }],
  ['Are the tests green again?', { name: 'run_tests', arguments: {} }],
  ['List the files of the folder lib.', { name: 'run_command', arguments: { command: 'ls lib' } }],
  ['The bug is mended. Hand it in.', { name: 'submit', arguments: {} }],
] as const;
const steps = 10;

/**
 * Ten steps of a fresh adapter, as a training takes them: the policy is loaded and its learner called as by a run's steps of
 * imitation. Throws where its loss does not fall, or where the adapter as it is saved is another one.
 */
export async function learn(file: string): Promise<void> {
  const settings = parseSettings({ model: file, device: 'cpu', concurrency: 1, lora: { rank: 8 }, learningRate: 1e-3 });
  const policy = await loadPolicy(settings, process.cwd());
  const sequences = lessons.map(([wish, call]) => lessonOf(policy, wish, call));
  const tokens = sequences.reduce((sum, { actionMask }) => sum + actionMask.reduce((count, bit) => count + bit, 0), 0);
  const coefficients = sequences.map(({ actionMask }) => ({
    logprobs: supervisedCoefficients(actionMask, tokens),
    entropies: null,
  }));
  const lossOf = (scores: readonly SequenceScores[]) =>
    scores.reduce((sum, { logprobs }, index) => {
      const { actionMask } = sequences[index]!;
      return sum - logprobs.reduce((part, logprob, place) => (actionMask[place] === 1 ? part + logprob : part), 0);
    }, 0) / tokens;

  const losses: number[] = [];
  for (let step = 0; step < steps; step++) {
    losses.push(lossOf(await policy.learner.accumulate(sequences, coefficients, 1)));
    const { skipped } = await policy.learner.step(optimizerOptions(settings));
    assert.equal(skipped, false, `step ${step + 1} was skipped`);
  }
  losses.push(lossOf(await policy.learner.score(sequences, 1)));
  console.log(`loss before ${steps} steps and after each: ${losses.map((loss) => loss.toFixed(3)).join(', ')}`);
  assert.ok(losses.at(-1)! < losses[0]!, 'the loss did not fall');

  const folder = mkdtempSync(path.join(tmpdir(), 'smollm2-adapter-'));
  try {
    await policy.learner.save(folder, { optimizer: false });
    await policy.dispose();
    const again = await loadPolicy({ ...settings, model: folder }, process.cwd());
    assert.equal(lossOf(await again.learner.score(sequences, 1)), losses.at(-1), 'the saved adapter is another one');
    await again.dispose();
    console.log('the saved adapter, loaded on top of the file, has the same loss');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function lessonOf({ codec }: Policy, wish: string, call: (typeof lessons)[number][1]): TrainingSequence {
  const given = codec.promptNodes([{ role: 'user', content: wish }], []).flatMap(({ tokenIds }) => [...tokenIds]);
  const message = { role: 'assistant', content: '', toolCalls: [{ id: 'call-0', ...call }], raw: '' } as const;
  const said = [...codec.encodeMessage(message)];
  return {
    tokenIds: Int32Array.from([...given, ...said]),
    actionMask: Uint8Array.from([...given.map(() => 0), ...said.map(() => 1)]),
  };
}

import type { TrainingPlan } from './training/train.js';

export interface CardFacts {
  readonly plan: TrainingPlan;
  readonly parameters: number;
  readonly episodes: number;
  readonly reviews: number;
  /** Package and licence of every source that code was taken from. */
  readonly sources: readonly (readonly [string, string])[];
  /** The last line of the evaluation on held-out programs. */
  readonly heldOut: string;
  /** Written by hand, in Markdown: how the shipped weights were trained, and how they play. */
  readonly shipped: string;
}

/** MODEL_CARD.md of the embedded policy. */
export function modelCard({ plan, parameters, episodes, reviews, sources, heldOut, shipped }: CardFacts): string {
  const { config } = plan;
  return `---
license: mit
tags: [code, reinforcement-learning, tool-use]
---

# Whetstone's embedded policy

A decoder of ${(parameters / 1e6).toFixed(2)} million parameters that plays Whetstone's episodes: it reads a failing test, opens the
source, edits a line, runs the tests and submits. It is meant as a starting point that learns on your repository, not as
a good programmer. It is made from nothing by \`node scripts/embedded-policy/make.mjs\`.

## Shape

Llama: ${config.layers} layers, hidden size ${config.hiddenSize}, ${config.heads} heads of ${config.headDim}, feed-forward ${config.intermediateSize}, vocabulary ${config.vocabularySize},
tied embeddings, rotary base ${config.ropeTheta}, at most ${config.maxPositions} positions. Stored as BF16. Byte-level BPE tokenizer, trained on
the same data; ChatML with a role for tools.

## Data

- ${episodes} expert episodes over generated modules (JavaScript, Python, TypeScript) with generated tests. Functions come from
  patterns with random names, constants and styles, and from a generator of functions that nobody wrote. Bugs are put in by
  Whetstone's own operators; what the tools answer comes from real runs of node:test and pytest through Whetstone's own
  adapters and renderers. Half of the episodes hold attempts that fail and are taken back; such mistakes are seen but not learned.
- ${reviews} reviews: functions of packages with permissive licences (listed below), in excerpts of their
  files or put together, with up to four bugs to be mended one after the other. Some ask for it by the functions' names; most are
  told by failing tests, as tasks are. Nobody wrote these tests: their names are made up from the function's, their
  messages are those of other tests, and the last run, in which all pass, did not take place.
- Nothing of the bundled fixture repository is in the data.

## Training

Supervised, with Whetstone's own learner on the CPU. The plan of a run from nothing: ${plan.steps} steps of about ${plan.batchTokens} tokens, AdamW,
learning rate ${plan.learningRate} with ${plan.warmupSteps} warm-up steps and a linear end of ${plan.decaySteps} steps. Tokens of edits weigh 2, of other turns 1, of
what the policy reads 0.2 falling to 0.05. The start is not random: the first two layers begin as heads that look a fixed
distance back and as heads that copy (induction), which spares finding them. (With a usual start, a somewhat smaller model
stood at 2.9 nats a token of held-out edits after 1,684 steps; with this one it stood at 0.76 after 708.)

Before an edit the policy names the function and reads its lines one after the other up to the one at fault; the edit then names
that line and the few tokens of it that change.

## Figures

On held-out generated programs (loss in nats a token; 'whole edits' is the mean probability of an expert's whole edit
turn): ${heldOut}.

${shipped}

## Limits

One-line changes of the kinds that the operators make; code that was taken out is rarely written again. Methods of classes are
harder for it than functions. It has seen little
natural language. It may open or edit the wrong place, and it does not know when to give up.

## Sources of code

${sources.map(([name, licence]) => `${name} (${licence})`).join(', ')}.
`;
}

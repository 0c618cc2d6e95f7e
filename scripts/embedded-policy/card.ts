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

A decoder of ${(parameters / 1e6).toFixed(2)} million parameters that plays Whetstone's episodes: it has the functions that the
failing tests may run listed, tries changes that \`suggest\` lists for one or another of them until the tests pass, and submits. It is meant as a starting point that learns on your repository, not as
a good programmer. It is made from nothing by \`node scripts/embedded-policy/make.mjs\`.

## Shape

Llama: ${config.layers} layers, hidden size ${config.hiddenSize}, ${config.heads} heads of ${config.headDim}, feed-forward ${config.intermediateSize}, vocabulary ${config.vocabularySize},
tied embeddings, rotary base ${config.ropeTheta}, at most ${config.maxPositions} positions. Stored as BF16. Byte-level BPE tokenizer, trained on
the same data; ChatML with a role for tools.

## Data

- ${episodes} expert episodes over generated modules (JavaScript, Python, TypeScript) with generated tests. Functions come from
  patterns with random names, constants and styles, and from a generator of functions that nobody wrote. Bugs are put in by
  Whetstone's own operators; what the tools answer comes from real runs of node:test and pytest through Whetstone's own
  adapters and renderers.
- ${reviews} reviews: functions of packages with permissive licences (listed below), in their files or put together, with one bug,
  told by failing tests, as tasks are. Nobody wrote these tests: their names are made up from the function's, their
  messages are those of other tests, and their runs did not take place. The place of the function at fault among their suspects is drawn
  from a list of ranks, nearer to the top where a test names the function; the other files' suspects are made-up names.
- In 65 of 100 episodes the first change does not mend the bug, in 65 of 100 of those the second does not, and so on; other functions are
  often tried first. What is tried in vain is drawn from the list, what the tests then say is made up, and it is seen but not learned.
- Nothing of the bundled fixture repository is in the data.

## Training

Supervised, with Whetstone's own learner on the CPU. The plan of a run from nothing: ${plan.steps} steps of about ${plan.batchTokens} tokens, AdamW,
learning rate ${plan.learningRate} with ${plan.warmupSteps} warm-up steps and a linear end of ${plan.decaySteps} steps. Tokens of turns that choose a change weigh 2, of other turns 1, of
what the policy reads 0.2 falling to 0.05. The start is not random: the first two layers begin as heads that look a fixed
distance back and as heads that copy (induction), which spares finding them. (With a usual start, a somewhat smaller model
stood at 2.9 nats a token of held-out edits after 1,684 steps; with this one it stood at 0.76 after 708.)

A policy of this size cannot quote code that it has not seen, so it quotes none: it names numbers of lists.

## Figures

On held-out generated programs (loss in nats a token; 'whole edits' is the mean probability of a whole turn of the
expert's that chooses a change): ${heldOut}.

${shipped}

## Limits

Small changes of the kinds that \`suggest\` lists: what undoes the bugs that Whetstone's operators put in, as far as code shows how.
Code that was taken out it does not write again, and a task that takes two changes it does not solve. What it knows of where
a bug may be is the order of \`suspects\`, and names that tests and functions share.

## Sources of code

${sources.map(([name, licence]) => `${name} (${licence})`).join(', ')}.
`;
}

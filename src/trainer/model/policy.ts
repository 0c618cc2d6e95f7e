import type { TokenConstraint } from '../text/grammar/tokenConstraint.js';

/** One sequence to learn from. All arrays are aligned with `tokenIds`: [time]. */
export interface TrainingSequence {
  readonly tokenIds: Int32Array;
  /** 1 on tokens whose log-probability is wanted (the policy's own): [time]. Position 0 can not be 1. */
  readonly actionMask: Uint8Array;
  /** Set where the tokens are those of a tree; else they are one sequence. */
  readonly branches?: readonly SequenceBranch[];
}

/** One way through a tree of tokens, from the root on. */
export interface SequenceBranch {
  /** Indices into the tree's tokens: [branch time]. */
  readonly positions: Int32Array;
  /** 1 on the sampled tokens that no earlier branch holds: [branch time]. */
  readonly actionMask: Uint8Array;
}

/** Log-probabilities and entropies (nats); NaN where the mask is 0: [time]. */
export interface SequenceScores {
  readonly logprobs: Float32Array;
  readonly entropies: Float32Array;
  /** What the critic expects where the token was sampled (valueHead.ts); absent where the learner has no critic. */
  readonly stateValues?: Float32Array;
}

/** dL/dlogp, dL/dentropy and dL/dvalue of each token; 0 where the mask is 0: [time]. */
export interface SequenceCoefficients {
  readonly logprobs: Float32Array;
  readonly entropies: Float32Array | null;
  /** Absent: 0. Not looked at where the learner has no critic. */
  readonly stateValues?: Float32Array;
}

export interface AdamWOptions {
  readonly learningRate: number;
  /** That of the critic's own parameters; absent: the same. */
  readonly valueLearningRate?: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  readonly weightDecay: number;
  /** Gradients are scaled down to this global norm; 0 leaves them as they are. */
  readonly maxGradientNorm: number;
}

/** What became of an update. */
export interface StepResult {
  /** Before clipping, and without the scale of the loss. */
  readonly gradientNorm: number;
  readonly skipped: boolean;
  /** What the loss was multiplied by (lossScale.ts), where the learner computes in float16. */
  readonly lossScale?: number;
}

/**
 * The learner in coefficient form: it knows log-probabilities, entropies and the gradient of
 * sum(c_t * logp_t + e_t * H_t), with a critic + v_t * V_t, and nothing of the algorithm. Scores are those of temperature 1
 * unless told.
 */
export interface Learner {
  /** Forward only. `temperature` divides the logits, as the sampler's did. */
  score(sequences: readonly TrainingSequence[], temperature: number): Promise<SequenceScores[]>;
  /** Forward and backward; adds the gradient of sum(c*logp + e*H + v*V) to the accumulated ones. */
  accumulate(
    sequences: readonly TrainingSequence[],
    coefficients: readonly SequenceCoefficients[],
    temperature: number,
  ): Promise<SequenceScores[]>;
  /** One AdamW step on the accumulated gradients (descending), which are then zero again. Skipped where not finite. */
  step(options: AdamWOptions): Promise<StepResult>;
  /**
   * Writes model.safetensors, config.json and tokenizer files, or an adapter in PEFT's format where that is what is trained, and
   * (where asked) optimizer.safetensors into `folder`; a critic's parameters beside them.
   */
  save(folder: string, options: { optimizer: boolean }): Promise<void>;
  /** Loads weights, and the optimizer's state where `optimizer` is true, from a folder that `save` wrote. */
  load(folder: string, options: { optimizer: boolean }): Promise<void>;
  dispose(): Promise<void>;
}

export interface GenerationRequest {
  /** The whole sequence so far. What an earlier request with the same `sessionId` left in the cache is reused. */
  readonly tokenIds: Int32Array;
  readonly sessionId: string;
  readonly maxNewTokens: number;
  readonly stopTokenIds: readonly number[];
  /** 0 is greedy; log-probs are then those of temperature 1. */
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  /** Tokens less probable than this share of the most probable one are left out; 0 keeps all. Not given, 0. */
  readonly minP?: number;
  /** Asked after each token: does the text of what was sampled so far end the turn (a stop string)? */
  readonly stops?: (tokenIds: readonly number[]) => boolean;
  /** Which tokens may be sampled; log-probs and entropies are then those of the distribution over these alone. */
  readonly constraint?: TokenConstraint;
  /** Seed of this request's own random stream: its tokens do not depend on its neighbours. */
  readonly seed: number;
  readonly signal?: AbortSignal;
}

export interface GenerationResult {
  /** Sampled ids, the stop token included. */
  readonly tokenIds: Int32Array;
  /** Log-probabilities under softmax(logits / temperature) before top-p, top-k and min-p: what the learner differentiates. */
  readonly logprobs: Float32Array;
  readonly entropies: Float32Array;
  readonly finishReason: 'stop' | 'length';
}

/** Requests made at the same time are decoded as one batch. */
export interface Generator {
  readonly maxContext: number;
  generate(request: GenerationRequest): Promise<GenerationResult>;
  /** Frees the cache of a session. */
  release(sessionId: string): void;
  /** Must be called after the learner's weights changed: every cache is stale then. */
  invalidate(): void;
  dispose(): Promise<void>;
}

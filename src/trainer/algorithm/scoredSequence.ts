/** What an offline loss needs to know of one recorded trajectory: [time]. Where the mask is 0 they are never looked at. */
export interface ScoredSequence {
  /** 1 on the tokens that the policy is held to. */
  readonly actionMask: Uint8Array;
  readonly logprobs: Float32Array;
}

/** One that the reference policy has scored too. */
export interface ReferencedSequence extends ScoredSequence {
  readonly referenceLogprobs: Float32Array;
}

/** A better and a worse trajectory of the same task. */
export interface Pair<Sequence extends ScoredSequence> {
  readonly chosen: Sequence;
  readonly rejected: Sequence;
}

export interface PairGradient {
  /** dL/dlp of the better one, 0 where its mask is 0: [time]. */
  readonly chosen: Float32Array;
  /** dL/dlp of the worse one: [time]. */
  readonly rejected: Float32Array;
  /** The pair's part of the loss. */
  readonly loss: number;
  /** By how much the policy prefers the better one, in the loss's own measure; TRL's `rewards/margins` where that is beta's. */
  readonly margin: number;
}

export const tokensOf = ({ actionMask }: ScoredSequence) => actionMask.reduce((sum, bit) => sum + bit, 0);

/** log pi(y): the sum over the sequence's own tokens. */
export const sequenceLogprob = ({ actionMask, logprobs }: ScoredSequence) =>
  actionMask.reduce((sum, bit, t) => (bit === 0 ? sum : sum + logprobs[t]), 0);

/** log pi(y) - log pi_ref(y) */
export const sequenceLogratio = ({ actionMask, logprobs, referenceLogprobs }: ReferencedSequence) =>
  actionMask.reduce((sum, bit, t) => (bit === 0 ? sum : sum + logprobs[t] - referenceLogprobs[t]), 0);

/** The same slope on each of the sequence's own tokens: [time]. */
export const slopeOver = ({ actionMask }: ScoredSequence, slope: number) =>
  Float32Array.from(actionMask, (bit) => (bit === 0 ? 0 : slope));

export const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
/** log(sigmoid(x)), also where the sigmoid is 0. */
export const logSigmoid = (x: number) => Math.min(0, x) - Math.log1p(Math.exp(-Math.abs(x)));

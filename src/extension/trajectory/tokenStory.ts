import type { LearnedTokens, Trajectory } from '../../trajectory/trajectory.js';
import type { PlacedToken } from './trajectoryText.js';

/** One token's whole story, as rows of a name and a value; a value that is absent says why. */
export function tokenStory(
  token: PlacedToken,
  kind: Trajectory['kind'],
  learned: LearnedTokens | null,
): readonly (readonly [name: string, value: string])[] {
  const { node, at, index } = token;
  const sampled = node.actionMask[at] === 1;
  const fromSampler = (value: number) =>
    Number.isNaN(value) ? (sampled ? 'not recorded' : 'none: not sampled by the policy') : number(value);
  const fromLearner = (values: Float32Array | undefined) => {
    if (!values) return kind === 'rollout' ? 'none: not learned from yet' : `none: nothing is learned from an ${kind}`;
    if (!sampled) return 'none: not sampled by the policy';
    return index < values.length && !Number.isNaN(values[index]) ? number(values[index]) : 'not recorded';
  };
  return [
    ['token', JSON.stringify(token.text)],
    ['id', String(node.tokenIds[at])],
    ['position', String(index)],
    ['role', token.role],
    ['mask', sampled ? '1: sampled by the policy' : '0: not sampled, not trained on'],
    ['log-prob', fromSampler(node.logprobs[at])],
    ['entropy', fromSampler(node.entropies[at])],
    ['advantage', fromLearner(learned?.advantages)],
    ['coefficient', fromLearner(learned?.coefficients)],
    ['learner log-prob', fromLearner(learned?.learnerLogprobs)],
    ['reference log-prob', fromLearner(learned?.referenceLogprobs)],
  ];
}

const number = (value: number) => String(Number(value.toPrecision(5)));

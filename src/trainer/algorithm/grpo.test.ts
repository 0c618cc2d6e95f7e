import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { groupAdvantages } from './advantages.js';
import { grpoCoefficients, type GrpoOptions, type GrpoTrajectory } from './grpo.js';

const options: GrpoOptions = { clipLow: 0.2, clipHigh: 0.28, klCoefficient: 0.05, trajectories: 3 };

function trajectoryOf(
  parts: Partial<Record<'logprobs' | 'oldLogprobs' | 'referenceLogprobs', number[]>>,
  advantage = 1,
) {
  const { logprobs = [-1], oldLogprobs = logprobs, referenceLogprobs = null } = parts;
  return {
    actionMask: new Uint8Array(logprobs.length).fill(1),
    logprobs: Float32Array.from(logprobs),
    oldLogprobs: Float32Array.from(oldLogprobs),
    referenceLogprobs: referenceLogprobs && Float32Array.from(referenceLogprobs),
    advantage,
    equalRewards: false,
  } satisfies GrpoTrajectory;
}

/** The loss as the paper writes it, in double precision and without a thought for gradients. */
function loss(trajectory: GrpoTrajectory, logprobs: readonly number[], { clipLow, clipHigh, ...rest }: GrpoOptions) {
  const terms = logprobs.flatMap((logprob, t) => {
    if (trajectory.actionMask[t] === 0) return [];
    const ratio = Math.exp(logprob - trajectory.oldLogprobs[t]);
    const cut = Math.max(1 - clipLow, Math.min(1 + clipHigh, ratio));
    const distance = trajectory.referenceLogprobs === null ? 0 : trajectory.referenceLogprobs[t] - logprob;
    const kl = Math.exp(distance) - distance - 1;
    return [-Math.min(ratio * trajectory.advantage, cut * trajectory.advantage) + rest.klCoefficient * kl];
  });
  return terms.reduce((sum, term) => sum + term, 0) / terms.length / rest.trajectories;
}

const arbitraryTrajectory = fc
  .array(
    fc.record({
      mask: fc.integer({ min: 0, max: 1 }),
      logprob: fc.double({ min: -6, max: 0, noNaN: true }),
      drift: fc.double({ min: -0.6, max: 0.6, noNaN: true }),
      away: fc.double({ min: -1, max: 1, noNaN: true }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .chain((tokens) =>
    fc.double({ min: -2, max: 2, noNaN: true }).map((advantage): GrpoTrajectory => ({
      // Unsampled tokens hold NaN, as in a record: they must not leak.
      actionMask: Uint8Array.from([1, ...tokens.slice(1).map(({ mask }) => mask)]),
      logprobs: Float32Array.from(tokens, ({ logprob, mask }, t) => (mask === 1 || t === 0 ? logprob : NaN)),
      oldLogprobs: Float32Array.from(tokens, ({ logprob, drift, mask }, t) =>
        mask === 1 || t === 0 ? logprob + drift : NaN,
      ),
      referenceLogprobs: Float32Array.from(tokens, ({ logprob, away, mask }, t) =>
        mask === 1 || t === 0 ? logprob + away : NaN,
      ),
      advantage,
      equalRewards: false,
    })),
  );

describe('the coefficients of GRPO', () => {
  it('are central differences of the written-out loss', () => {
    fc.assert(
      fc.property(arbitraryTrajectory, (trajectory) => {
        const { coefficients, sums } = grpoCoefficients(trajectory, options);
        const logprobs = [...trajectory.logprobs];
        expect(sums.loss).toBeCloseTo(loss(trajectory, logprobs, options), 8);
        const step = 1e-6;
        logprobs.forEach((logprob, t) => {
          const ratio = Math.exp(logprob - trajectory.oldLogprobs[t]);
          // At the kinks the loss has no derivative.
          if (Math.abs(ratio - 1.28) < 1e-4 || Math.abs(ratio - 0.8) < 1e-4) return;
          const moved = (by: number) => loss(trajectory, logprobs.with(t, logprob + by), options);
          const slope = trajectory.actionMask[t] === 1 ? (moved(step) - moved(-step)) / (2 * step) : 0;
          expect(Math.abs(coefficients[t] - slope)).toBeLessThan(1e-6);
        });
      }),
    );
  });

  it('are -A / (N |o|) on the first update, where the ratio is 1', () => {
    const { coefficients, sums } = grpoCoefficients(trajectoryOf({ logprobs: [-1, -2] }, 3), options);
    expect([...coefficients]).toEqual([-0.5, -0.5]);
    expect(sums).toMatchObject({ tokens: 2, clipped: 0, ratio: 2, kl: 0 });
  });

  it('vanish where the ratio has gone far enough in the direction of the advantage, and only there', () => {
    const upAndDown = { logprobs: [-1, -1], oldLogprobs: [-1.5, -0.5] };
    const better = grpoCoefficients(trajectoryOf(upAndDown, 1), options);
    expect(better.coefficients[0]).toBe(0);
    expect(better.coefficients[1]).toBeCloseTo(-Math.exp(-0.5) / 6, 6);
    const worse = grpoCoefficients(trajectoryOf(upAndDown, -1), options);
    expect(worse.coefficients[0]).toBeCloseTo(Math.exp(0.5) / 6, 6);
    expect(worse.coefficients[1]).toBe(0);
    expect([better.sums.clipped, worse.sums.clipped]).toEqual([1, 1]);
  });

  it('pull towards the reference: up where it finds the token likelier, down where less likely', () => {
    const { coefficients, sums } = grpoCoefficients(
      trajectoryOf({ logprobs: [-1, -1], referenceLogprobs: [-0.5, -1.5] }, 0),
      options,
    );
    expect(coefficients[0]).toBeCloseTo((0.05 * (1 - Math.exp(0.5))) / 6, 7);
    expect(coefficients[1]).toBeCloseTo((0.05 * (1 - Math.exp(-0.5))) / 6, 7);
    expect(sums.kl).toBeCloseTo(Math.exp(0.5) + Math.exp(-0.5) - 2, 6);
  });

  it('are exactly zero in a group of equal rewards, the KL term included', () => {
    const silent = { ...trajectoryOf({ logprobs: [-1, -2], referenceLogprobs: [-3, -1] }, 0), equalRewards: true };
    const { coefficients, sums } = grpoCoefficients(silent, options);
    expect([...coefficients]).toEqual([0, 0]);
    expect(sums.loss).toBe(0);
    expect(sums.kl).toBeGreaterThan(0);
  });

  it('do not depend on which trajectories share a micro-batch', () => {
    fc.assert(
      fc.property(fc.array(arbitraryTrajectory, { minLength: 2, maxLength: 5 }), (trajectories) => {
        const whole = { ...options, trajectories: trajectories.length };
        const total = trajectories.reduce((sum, one) => sum + loss(one, [...one.logprobs], whole), 0);
        const parts = trajectories.map((one) => grpoCoefficients(one, whole).sums.loss);
        expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(total, 8);
      }),
    );
  });

  it("equal the gradient of TRL's loss in torch (scripts/golden/grpo.py)", () => {
    const file = path.join(path.dirname(fileURLToPath(import.meta.url)), 'golden', 'grpo.json');
    const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: GoldenCase[] };
    expect(cases.length).toBeGreaterThan(0);
    for (const golden of cases) {
      const { advantages } = groupAdvantages(golden.rewards);
      advantages.forEach((value, index) => expect(value).toBeCloseTo(golden.advantages[index], 10));
      const results = golden.mask.map((mask, i) =>
        grpoCoefficients(
          {
            actionMask: Uint8Array.from(mask),
            logprobs: Float32Array.from(golden.logprobs[i]),
            oldLogprobs: Float32Array.from(golden.oldLogprobs[i]),
            referenceLogprobs: golden.klCoefficient === 0 ? null : Float32Array.from(golden.referenceLogprobs[i]),
            advantage: advantages[i],
            equalRewards: false,
          },
          { ...golden, trajectories: golden.mask.length },
        ),
      );
      const sum = (key: 'loss' | 'clipped' | 'kl') => results.reduce((total, { sums }) => total + sums[key], 0);
      expect(sum('loss')).toBeCloseTo(golden.loss, 10);
      expect(sum('clipped')).toBe(golden.clipped);
      if (golden.klCoefficient > 0) expect(sum('kl')).toBeCloseTo(golden.kl, 8);
      results.forEach(({ coefficients }, i) =>
        coefficients.forEach((value, t) => expect(value).toBeCloseTo(golden.gradient[i][t], 7)),
      );
    }
  });
});

interface GoldenCase {
  readonly clipLow: number;
  readonly clipHigh: number;
  readonly klCoefficient: number;
  readonly rewards: number[];
  readonly advantages: number[];
  readonly mask: number[][];
  readonly logprobs: number[][];
  readonly oldLogprobs: number[][];
  readonly referenceLogprobs: number[][];
  readonly gradient: number[][];
  readonly loss: number;
  readonly clipped: number;
  readonly kl: number;
}

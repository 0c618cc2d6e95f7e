/** Opacity of the faintest and of the strongest tint: a node's text stays readable on it (contrast.test.ts). */
const [faintest, strongest] = [0.12, 0.4];

/** @param strength share of the strongest advantage, from 0 to 1 */
export const tintOpacity = (strength: number): number => faintest + (strongest - faintest) * strength;

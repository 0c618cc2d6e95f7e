import { describe, expect, it } from 'vitest';
import { parseSandboxChoice, sandboxChoiceSchema } from './sandboxChoice.js';

describe('the choice of a sandbox', () => {
  it.each([
    ['auto', 'auto', null],
    ['bubblewrap', 'bubblewrap', null],
    ['podman', 'podman', null],
    ['docker:node:24', 'docker', 'node:24'],
    ['podman:ghcr.io/a/b@sha256:00ff', 'podman', 'ghcr.io/a/b@sha256:00ff'],
  ])('%s is %s with the image %s', (text, kind, image) => {
    expect(parseSandboxChoice(sandboxChoiceSchema.parse(text))).toEqual({ kind, image });
  });

  it.each(['', 'docker:', 'docker:--privileged', 'bubblewrap:node', 'chroot', 'docker:a b', 'podman:-v=/:/'])(
    'refuses %j',
    (text) => {
      expect(sandboxChoiceSchema.safeParse(text).success).toBe(false);
    },
  );
});

import { z } from 'zod';
import type { SandboxKind } from './sandbox.js';

const kinds = ['auto', 'bubblewrap', 'podman', 'docker', 'seatbelt', 'unconfined'] as const;
/** An image's reference as the engines know it; never an option of theirs. */
const image = z.string().regex(/^\w[\w./:@-]*$/);

/** `auto`, a kind of sandbox, or an engine with the user's image, e.g. `podman:node:24`. */
export const sandboxChoiceSchema = z.union([
  z.enum(kinds),
  z.templateLiteral(['podman:', image]),
  z.templateLiteral(['docker:', image]),
]);
export type SandboxChoice = z.infer<typeof sandboxChoiceSchema>;

export const sandboxChoices = `${kinds.join(', ')}, podman:IMAGE, docker:IMAGE`;

/** The kind, and the user's image where one is named. */
export function parseSandboxChoice(choice: SandboxChoice): { kind: 'auto' | SandboxKind; image: string | null } {
  const [kind, ...reference] = choice.split(':');
  return { kind: kind as 'auto' | SandboxKind, image: reference.length === 0 ? null : reference.join(':') };
}

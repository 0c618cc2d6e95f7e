import { z } from 'zod';

/** What `whetstone tasks verify --json` prints, as far as it is read here. */
export const verificationSchema = z.looseObject({
  tasks: z.array(z.looseObject({ tried: z.int(), failures: z.array(z.string()) })),
});

/** What `whetstone tasks test --json` prints, as far as it is read here. */
export const testedTaskSchema = z.looseObject({
  outcome: z.string(),
  tests: z.array(
    z.looseObject({
      id: z.string(),
      status: z.enum(['passed', 'failed', 'skipped', 'missing']),
      message: z.string(),
      isAsItMustBe: z.boolean(),
    }),
  ),
  output: z.string(),
});
export type TestedTask = z.infer<typeof testedTaskSchema>;

/** What `whetstone tasks build --json` prints, as far as it is read here. */
export const builtSchema = z.looseObject({
  tasks: z.array(z.unknown()),
  funnel: z.looseObject({ found: z.int() }),
});

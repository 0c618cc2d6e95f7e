import { z } from 'zod';

/** What `whetstone tasks verify --json` prints, as far as it is read here. */
export const verificationSchema = z.looseObject({
  tasks: z.array(z.looseObject({ tried: z.int(), failures: z.array(z.string()) })),
});

/** What `whetstone tasks build --json` prints, as far as it is read here. */
export const builtSchema = z.looseObject({
  tasks: z.array(z.unknown()),
  funnel: z.looseObject({ found: z.int() }),
});

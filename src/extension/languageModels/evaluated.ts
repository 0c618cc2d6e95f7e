import { z } from 'zod';

/** What `whetstone eval --record --json` prints, as far as it is read here. */
export const evaluatedSchema = z.looseObject({
  run: z.string(),
  validCallRate: z.number(),
  success: z.looseObject({ rate: z.number(), n: z.int() }),
});

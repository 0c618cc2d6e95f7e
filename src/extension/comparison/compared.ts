import { z } from 'zod';

const successSchema = z.looseObject({ rate: z.number(), interval: z.tuple([z.number(), z.number()]), n: z.int() });
const pairSchema = z.looseObject({ taskId: z.string(), episodes: z.int(), before: z.int(), after: z.int() });

/** What `whetstone eval --against --json` prints, as far as it is read here. */
export const comparedSchema = z.looseObject({
  success: successSchema,
  comparison: z.looseObject({
    success: successSchema,
    tasks: z.int(),
    /** Success of the later policy less that of the earlier one. */
    difference: z.number(),
    interval: z.tuple([z.number(), z.number()]).nullable(),
    pValue: z.number(),
    regressions: z.array(pairSchema),
    improvements: z.array(pairSchema),
  }),
});
export type Compared = z.infer<typeof comparedSchema>;

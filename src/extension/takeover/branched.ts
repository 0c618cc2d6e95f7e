import { z } from 'zod';

/** What `whetstone branch --json` prints, as far as it is read here. */
export const branchedSchema = z.looseObject({
  branches: z.array(z.looseObject({ id: z.string(), resolved: z.boolean() })),
});

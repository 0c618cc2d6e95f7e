import { z } from 'zod';
import type { Phrase, Said } from './said.js';

// Apart from what says something, which the extension needs before any record is checked.

const phraseSchema: z.ZodType<Phrase> = z.object({
  template: z.string(),
  values: z.array(z.union([z.string(), z.number(), z.lazy(() => saidSchema)])),
});

/** Fields of a schema for what holds a Said. */
export const saidFields = { message: z.string(), phrase: phraseSchema.optional() };
export const saidSchema: z.ZodType<Said> = z.object(saidFields);

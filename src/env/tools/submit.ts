import { z } from 'zod';
import { defineTool } from './tool.js';

export const SUBMITTED = 'Submitted.';

export const submit = defineTool({
  name: 'submit',
  description: 'End the episode: the work is done.',
  arguments: z.strictObject({}),
  ends: true,
  execute: () => Promise.resolve(SUBMITTED),
});

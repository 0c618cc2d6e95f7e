import { z } from 'zod';
import { say } from '../../trajectory/said.js';

const rubric = [
  'Did the agent find the cause of the failure before it changed anything?',
  'Is every changed line needed for the task?',
  'Would a careful reviewer merge the change as it is?',
];

/** The models of an ensemble. */
export const modelsOf = (model: string): string[] => model.split(',').map((name) => name.trim());

/** A language model that judges episodes by a rubric; off unless an address is given. */
export const judgeSchema = z
  .strictObject({
    url: z
      .url({ protocol: /^https?$/, error: say`it must be an http or https address`.message })
      .optional()
      .describe(
        'OpenAI-compatible server whose model judges each episode; none: no judge. A repository may not choose it itself.',
      ),
    model: z
      .string()
      .min(1)
      .optional()
      .describe('The model that the server is asked for; several, with commas between, give the votes in turn.'),
    weight: z.number().nonnegative().default(0.2).describe("Weight of the judge's score."),
    votes: z
      .int()
      .positive()
      .max(15)
      .default(3)
      .describe('How many times it is asked about an episode; each question is decided by the majority.'),
    rubric: z
      .array(z.string().min(1).max(300))
      .min(1)
      .max(10)
      .default(rubric)
      .describe('Questions that are answered with yes or no; the score is the share of yes.'),
  })
  .refine(({ url, model }) => (url === undefined) === (model === undefined), {
    message: say`a judge needs both \`url\` and \`model\``.message,
  })
  .refine(({ model = '', votes }) => modelsOf(model).length <= votes, {
    message: say`a judge of several models needs as many \`votes\``.message,
  });
export type JudgeSettings = z.infer<typeof judgeSchema>;

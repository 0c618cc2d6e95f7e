import { z } from 'zod';
import type { Task } from '../../trajectory/task.js';
import type { ToolSchema } from '../../trajectory/message.js';
import type { EpisodeLimits } from '../episodeTypes.js';
import type { Workspace } from '../workspace/workspace.js';

/** What a tool works on. */
export interface ToolContext {
  readonly workspace: Workspace;
  readonly task: Task;
  readonly limits: EpisodeLimits;
  /** Is this path (relative to the tree, with `/`) one that the policy may not change for the grade? */
  readonly isTestFile: (path: string) => boolean;
  readonly signal?: AbortSignal;
}

export interface Tool {
  readonly name: string;
  readonly schema: ToolSchema;
  /** What the arguments may be, in JSON schema, bounds too, which the schema for models leaves out. */
  readonly argumentsSchema: Readonly<Record<string, unknown>>;
  /** True for the tool that ends the episode. */
  readonly ends: boolean;
  /** Plays a call; `valid` is false where the arguments do not fit the schema. Only a failing machine throws. */
  call(
    args: Readonly<Record<string, unknown>>,
    context: ToolContext,
  ): Promise<{ readonly text: string; readonly valid: boolean }>;
}

/** Makes a tool: the zod schema both checks the arguments and is shown to models as plain JSON schema. */
export function defineTool<Arguments extends z.ZodObject>(definition: {
  readonly name: string;
  readonly description: string;
  readonly arguments: Arguments;
  readonly ends?: boolean;
  execute(args: z.infer<Arguments>, context: ToolContext): Promise<string>;
}): Tool {
  return {
    name: definition.name,
    ends: definition.ends ?? false,
    argumentsSchema: z.toJSONSchema(definition.arguments),
    schema: {
      type: 'function',
      function: {
        name: definition.name,
        description: definition.description,
        parameters: plainJsonSchema(definition.arguments),
      },
    },
    async call(args, context) {
      const parsed = definition.arguments.safeParse(args);
      if (!parsed.success) return { text: argumentError(definition.name, args, parsed.error), valid: false };
      return { text: await definition.execute(parsed.data, context), valid: true };
    },
  };
}

/** Only what a model needs: no dialect line, no bounds of the integer type. */
function plainJsonSchema(schema: z.ZodObject): Record<string, unknown> {
  const { type, properties, required } = z.toJSONSchema(schema, {
    override: ({ jsonSchema }) => {
      delete jsonSchema.minimum;
      delete jsonSchema.maximum;
      delete jsonSchema.minLength;
    },
  });
  return { type, properties, required: required ?? [] };
}

function argumentError(name: string, args: Readonly<Record<string, unknown>>, error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue.code === 'unrecognized_keys') return `${name}: unknown argument "${issue.keys[0]}".`;
  if (issue.path.length === 0) return `${name}: the arguments must be an object.`;
  const argument = issue.path.map(String).join('.');
  if (issue.path.length === 1 && !(argument in args)) return `${name}: missing argument "${argument}".`;
  return `${name}: argument "${argument}" must ${demand(issue)}.`;
}

function demand(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return `be ${nouns[issue.expected] ?? issue.expected}`;
  const isNumber = issue.code === 'too_small' && ['number', 'int'].includes(issue.origin);
  return isNumber ? `be at least ${issue.minimum}` : 'not be empty';
}

const nouns: Readonly<Record<string, string>> = {
  string: 'a string',
  int: 'an integer',
  number: 'an integer',
  array: 'a list of strings',
};

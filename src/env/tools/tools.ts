import type { ToolSchema } from '../../trajectory/message.js';
import { applyPatch } from './applyPatch.js';
import { choose } from './choose.js';
import { edit } from './edit.js';
import { taggedCall } from './prompts.js';
import { open } from './open.js';
import { runCommand } from './runCommand.js';
import { runTests } from './runTests.js';
import { search } from './search.js';
import { submit } from './submit.js';
import { suggest } from './suggest.js';
import { suspects } from './suspects.js';
import type { Tool } from './tool.js';

/** The agent's tools, in the order that models see them. */
export const tools: readonly Tool[] = [
  runTests,
  search,
  open,
  suspects,
  suggest,
  choose,
  edit,
  applyPatch,
  runCommand,
  submit,
];

export const toolSchemas: readonly ToolSchema[] = tools.map((tool) => tool.schema);

const byName = new Map(tools.map((tool) => [tool.name, tool]));

export const findTool = (name: string): Tool | undefined => byName.get(name);

/** The observation of a call that names no tool. */
export function renderUnknownTool(name: string): string {
  return `Unknown tool "${name.slice(0, 60)}". Tools: ${tools.map((tool) => tool.name).join(', ')}.`;
}

/** The observation of a turn that held something meant as a call that did not parse. */
export function renderMalformedCall(why: string, callExample: string = taggedCall): string {
  return `Malformed tool call: ${why.replace(/[.\s]*$/, '')}. Write ${callExample}.`;
}

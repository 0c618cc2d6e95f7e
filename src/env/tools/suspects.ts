import { z } from 'zod';
import { findSuspects } from '../suspects/findSuspects.js';
import type { Suspect } from '../suspects/rankSuspects.js';
import { cutLine } from './normalize.js';
import { startTree } from './startTree.js';
import { defineTool, type ToolContext } from './tool.js';

const SHOWN_SUSPECTS = 12;
const NAME_CHARACTERS = 60;
const PATH_CHARACTERS = 120;

export const suspects = defineTool({
  name: 'suspects',
  description:
    'List the functions (long ones in parts) that the failing tests may run, the likeliest first, with the numbers that `suggest` and `choose` take (from `from` on where given).',
  arguments: z.strictObject({ from: z.int().min(1).optional() }),
  async execute({ from }, context) {
    return renderSuspects(await suspectsOf(context), from);
  },
});

/** The suspects of an episode's task, in the order of their numbers. */
export const suspectsOf = ({ task, workspace, signal }: Pick<ToolContext, 'task' | 'workspace' | 'signal'>) =>
  findSuspects(task, startTree(workspace), signal);

/** `1. name (path:line)` for each. */
export function renderSuspects(all: readonly Pick<Suspect, 'name' | 'path' | 'line'>[], from = 1): string {
  if (all.length === 0) return 'No function is known that the failing tests may run.';
  if (from > all.length) return noSuspect(from, all.length);
  const shown = all.slice(from - 1, from - 1 + SHOWN_SUSPECTS);
  const next = from + SHOWN_SUSPECTS;
  return [
    ...shown.map(
      ({ name, path, line }, index) =>
        `${from + index}. ${cutLine(name, NAME_CHARACTERS)} (${cutLine(path, PATH_CHARACTERS)}:${line})`,
    ),
    ...(next > all.length ? [] : [`(+${all.length + 1 - next} more, from ${next})`]),
  ].join('\n');
}

/** The number from which on a list goes on; null where it is whole. */
export function nextSuspect(list: string): number | null {
  const found = /\(\+\d+ more, from (\d+)\)$/.exec(list);
  return found === null ? null : Number(found[1]);
}

export const noSuspect = (number: number, count: number) => `No function ${number}: there are ${count}.`;

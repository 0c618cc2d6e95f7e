import { z } from 'zod';

/*
 * Lists and records out of files that anyone may have written, checked up to the first fault. zod by itself collects every one,
 * and those of a list of millions fill the memory.
 */

/** A list, each item as `item` has it. */
export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.unknown().transform((value, context): z.output<Item>[] => {
    if (!Array.isArray(value)) return refuse(context, [], 'it is no list');
    const items: z.output<Item>[] = [];
    for (const [index, each] of value.entries()) {
      const parsed = item.safeParse(each);
      if (!parsed.success) return refuseInside(context, index, parsed.error);
      items.push(parsed.data);
    }
    return items;
  });

/** An object, each value as `item` has it. */
export const recordOf = <Item extends z.ZodType>(item: Item) =>
  z.unknown().transform((value, context): Record<string, z.output<Item>> => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return refuse(context, [], 'it is no object');
    const entries: [string, z.output<Item>][] = [];
    for (const [key, each] of Object.entries(value)) {
      const parsed = item.safeParse(each);
      if (!parsed.success) return refuseInside(context, key, parsed.error);
      entries.push([key, parsed.data]);
    }
    return Object.fromEntries(entries);
  });

type Refinement = z.core.$RefinementCtx;

function refuseInside(context: Refinement, key: PropertyKey, { issues: [issue] }: z.ZodError): never {
  return refuse(context, [key, ...issue.path], issue.message);
}

function refuse(context: Refinement, path: PropertyKey[], message: string): never {
  context.addIssue({ code: 'custom', path, message });
  return z.NEVER;
}

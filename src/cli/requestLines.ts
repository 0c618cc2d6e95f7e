import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { describeError } from './output.js';

/** What every request of another program has. */
interface Request {
  readonly id: number;
}

/**
 * Answers another program: each line of JSON on `input` is a request, each is answered in order by one line with its `id`, and
 * `error` (with its `phrase`, see Said) in place of a result. Ends with `input`, and when `signal` aborts; `handle` is given a signal that both abort.
 */
export async function answerRequests<R extends Request>(
  input: Readable,
  schema: z.ZodType<R>,
  answer: (line: object) => void,
  handle: (request: R, signal: AbortSignal) => Promise<object>,
  signal: AbortSignal,
): Promise<void> {
  const ended = new AbortController();
  input.once('end', () => ended.abort());
  const either = AbortSignal.any([signal, ended.signal]);
  for await (const line of createInterface({ input, crlfDelay: Infinity, signal: either })) {
    if (line.trim() !== '') answer(await answerTo(line, schema, (request) => handle(request, either)));
    if (either.aborted) break;
  }
}

async function answerTo<R extends Request>(
  line: string,
  schema: z.ZodType<R>,
  handle: (request: R) => Promise<object>,
): Promise<object> {
  let id = 0;
  try {
    const request = schema.parse(JSON.parse(line));
    id = request.id;
    return { id, ...(await handle(request)) };
  } catch (error) {
    if (error instanceof SyntaxError) return { id, error: `The request is no JSON: ${error.message}.` };
    if (error instanceof z.ZodError) return { id, error: `The request is not understood: ${z.prettifyError(error)}` };
    const { message, phrase } = describeError(error).said;
    return { id, error: message, phrase };
  }
}

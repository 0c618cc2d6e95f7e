import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Slots } from '../../env/slots.js';
import { infrastructure, WhetstoneError } from '../../trajectory/errors.js';
import { t } from '../translate.js';
import { chatRequestSchema, completionOf, type AnswerPart, type ChatModel } from './chatRequest.js';

/** A model at an address of this machine, until it is closed. */
export interface ModelEndpoint {
  /** Base address, as clients of OpenAI's take it. */
  readonly url: string;
  /** The bearer token that requests must show; it is known nowhere else and never used again. */
  readonly token: string;
  /** What was answered so far. */
  readonly answers: { readonly count: number; readonly withCalls: number };
  /** Why the model answers nothing any more; null where it does. */
  readonly problem: WhetstoneError | null;
  /** Ends what is being answered, too. */
  close(): Promise<void>;
}

const longestRequest = 64 * 2 ** 20;
/** Providers limit how often they are asked, so that more at once would only be refused. */
const sideBySide = 4;

/**
 * Serves a model as an OpenAI-compatible server of chat completions: on a random port of the loopback address, for whoever has the
 * token; any other request is refused. A client that goes away ends what it asked for.
 */
export async function openModelEndpoint(model: ChatModel): Promise<ModelEndpoint> {
  const token = randomBytes(32).toString('base64url');
  const slots = new Slots(sideBySide);
  const answers = { count: 0, withCalls: 0 };
  let problem: WhetstoneError | null = null;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const { port } = server.address() as AddressInfo;
    const refusal = refusalOf(request, `127.0.0.1:${port}`, token);
    if (refusal !== null) return send(response, refusal, 'This is no request that is answered here.');
    const body = await textOfBody(request);
    if (body === null) return send(response, 413, 'The request is too long.');
    const parsed = chatRequestSchema.safeParse(parseJson(body));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      return send(
        response,
        422,
        `The request is none of chat completions (${issue?.path.join('.') ?? ''}: ${issue?.message}).`,
      );
    }
    if (parsed.data.model !== model.id) return send(response, 404, `There is no model '${parsed.data.model}' here.`);
    const { messages, tools } = parsed.data;
    const prompt = await model.countTokens(JSON.stringify({ messages, tools }));
    if (model.maxInputTokens > 0 && prompt > model.maxInputTokens)
      return send(response, 400, `The conversation exceeds the context of ${model.maxInputTokens} tokens.`);
    const parts: AnswerPart[] = [];
    await slots.run(gone.signal, async () => {
      for await (const part of model.ask(parsed.data, gone.signal)) parts.push(part);
    });
    answers.count++;
    if (parts.some(({ kind }) => kind === 'call')) answers.withCalls++;
    const said = await model.countTokens(JSON.stringify(parts));
    respond(response, 200, completionOf(model.id, parts, { prompt, answer: said }));
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      const known = error instanceof WhetstoneError ? error : infrastructure((error as Error).message, '');
      if (known.kind === 'bad-input') problem ??= known;
      // The client asks again where that may help.
      if (!response.headersSent) send(response, known.kind === 'bad-input' ? 403 : 502, known.line);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(infrastructure(t('No address is free ({0}).', error.message), t('Try again.'), error)),
    );
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    token,
    answers,
    get problem() {
      return problem;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Why a request is not looked at; null where it is. A page of a browser has no business here, under whatever name. */
function refusalOf({ method, url, headers }: IncomingMessage, host: string, token: string): number | null {
  const [shown, wanted] = [Buffer.from(headers.authorization ?? ''), Buffer.from(`Bearer ${token}`)];
  if (shown.length !== wanted.length || !timingSafeEqual(shown, wanted)) return 401;
  if (headers.host !== host || headers.origin !== undefined) return 403;
  return method === 'POST' && url === '/v1/chat/completions' ? null : 404;
}

/** Null where it is too long. */
async function textOfBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > longestRequest) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

const send = (response: ServerResponse, status: number, message: string) =>
  respond(response, status, { error: { message } });

function respond(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', ...(status === 413 && { connection: 'close' }) });
  response.end(JSON.stringify(body));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

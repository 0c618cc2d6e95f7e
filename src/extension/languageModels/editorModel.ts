import type * as vscode from 'vscode';
import { badInput, cancelled, infrastructure, type WhetstoneError } from '../../trajectory/errors.js';
import { t } from '../translate.js';
import type { AnswerPart, ChatModel, ChatRequest, ChatRequestMessage } from './chatRequest.js';

/** What of the editor is used here; handed in, so that it works without one. */
export type LanguageModelApi = Pick<
  typeof vscode,
  | 'CancellationTokenSource'
  | 'LanguageModelChatMessage'
  | 'LanguageModelTextPart'
  | 'LanguageModelToolCallPart'
  | 'LanguageModelToolResultPart'
>;

/** A language model of the editor's, as the endpoint asks it. */
export function editorModel(api: LanguageModelApi, model: vscode.LanguageModelChat): ChatModel {
  return {
    id: model.id,
    maxInputTokens: model.maxInputTokens,
    // A model that cannot count them may still answer.
    countTokens: (text) =>
      model.countTokens(text).then(
        (count) => count,
        () => 0,
      ),
    ask: (request, signal) => ask(api, model, request, signal),
  };
}

async function* ask(
  api: LanguageModelApi,
  model: vscode.LanguageModelChat,
  { messages, tools, temperature, top_p }: ChatRequest,
  signal: AbortSignal,
): AsyncGenerator<AnswerPart> {
  if (signal.aborted) throw cancelled();
  const source = new api.CancellationTokenSource();
  const cancel = () => source.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const options: vscode.LanguageModelChatRequestOptions = {
      justification: t('Whetstone lets this model play tasks of the opened repository.'),
      tools: tools.map(({ function: { name, description, parameters } }) => ({
        name,
        description,
        inputSchema: parameters,
      })),
      modelOptions: { ...(temperature !== undefined && { temperature }), ...(top_p !== undefined && { top_p }) },
    };
    const response = await model.sendRequest(editorMessages(api, messages), options, source.token);
    for await (const part of response.stream) {
      if (part instanceof api.LanguageModelTextPart) yield { kind: 'text', text: part.value };
      else if (part instanceof api.LanguageModelToolCallPart)
        yield { kind: 'call', id: part.callId, name: part.name, input: part.input };
    }
  } catch (error) {
    throw signal.aborted ? cancelled() : problemOf(error, model.name);
  } finally {
    signal.removeEventListener('abort', cancel);
    source.dispose();
  }
}

/** The editor's models know no system message, and take the answers to the calls of one turn together. */
function editorMessages(
  api: LanguageModelApi,
  messages: readonly ChatRequestMessage[],
): vscode.LanguageModelChatMessage[] {
  const { LanguageModelChatMessage: Message } = api;
  const written: vscode.LanguageModelChatMessage[] = [];
  let results: vscode.LanguageModelToolResultPart[] = [];
  const flush = () => {
    if (results.length > 0) written.push(Message.User(results));
    results = [];
  };
  for (const message of messages) {
    if (message.role === 'tool') {
      const content = [new api.LanguageModelTextPart(message.content)];
      results.push(new api.LanguageModelToolResultPart(message.tool_call_id, content));
      continue;
    }
    flush();
    if (message.role !== 'assistant') {
      written.push(Message.User(message.content));
      continue;
    }
    const said = message.content ? [new api.LanguageModelTextPart(message.content)] : [];
    const calls = message.tool_calls.map(
      ({ id, function: { name, arguments: args } }) => new api.LanguageModelToolCallPart(id, name, args),
    );
    written.push(Message.Assistant([...said, ...calls]));
  }
  flush();
  return written;
}

/** What went wrong, in words; `bad-input` where asking again cannot help. */
function problemOf(error: unknown, name: string): WhetstoneError {
  const { message, code } = error as Error & { readonly code?: unknown };
  if (code === 'NoPermissions')
    return badInput(t('Whetstone was not allowed to use {0}.', name), t('Try again, and allow it when asked.'), error);
  if (code === 'NotFound') return badInput(t('{0} is not there any more.', name), t('Choose another model.'), error);
  if (code === 'Blocked' || /quota/i.test(message)) {
    const why = t('{0} answers no more: a quota is used up, or it is blocked ({1}).', name, message);
    return badInput(why, t('Wait, or choose another model.'), error);
  }
  if (/\btools?\b.*\bnot\b|\bnot\b.*\btools?\b/i.test(message))
    return badInput(t('{0} cannot call tools ({1}).', name, message), t('Choose another model.'), error);
  return infrastructure(t('{0} did not answer ({1}).', name, message), '', error);
}

import { Environment, parse, tokenize } from '@huggingface/jinja';
import { badInput } from '../../trajectory/errors.js';
import { say, type Said } from '../../trajectory/said.js';
import type { AssistantMessage, Message, ToolSchema } from '../../trajectory/message.js';
import { BoundedInterpreter } from './boundedInterpreter.js';
import { nineCharacterId } from './toolFormats/callId.js';
import { withinTime } from './withinTime.js';

/** A checkpoint's own chat template (Jinja), rendering messages to text. */
export interface ChatTemplate {
  render(messages: readonly Message[], tools: readonly ToolSchema[], options: { generationPrompt: boolean }): string;
}

/** Numbers that one `range` of a template may give; real templates count messages. */
const longestRange = 100_000;

/**
 * @param specialTokens what templates read by name, e.g. `bos_token`
 * @param renderingMs how long one rendering may take; the real templates take milliseconds
 * @throws bad-input where the Jinja does not parse; rendering throws it where a conversation does not render in time
 */
export function compileChatTemplate(
  source: string,
  specialTokens: Readonly<Record<string, string>>,
  where: string,
  renderingMs = 10_000,
): ChatTemplate {
  const attempt = <T>(action: () => T, refusal: (reason: string) => Said): T => {
    try {
      return action();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw badInput(refusal(reason), 'Use a model with a chat template.', error);
    }
  };
  const program = attempt(
    () => parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true })),
    (reason) => say`The chat template in '${where}' does not parse: ${reason}.`,
  );
  return {
    render: (messages, tools, { generationPrompt }) =>
      attempt(
        () =>
          withinTime(renderingMs, () => {
            const names = {
              ...templateGlobals,
              ...specialTokens,
              messages: messages.map(templateMessage),
              tools: tools.length > 0 ? tools : null,
              add_generation_prompt: generationPrompt,
            };
            const environment = new Environment();
            for (const [name, value] of Object.entries(names)) environment.set(name, value);
            return new BoundedInterpreter(environment).run(program).value as string;
          }),
        (reason) => say`The chat template in '${where}' does not render this conversation: ${reason}.`,
      ),
  };
}

/** What templates find beside the conversation, as in `transformers`. */
const templateGlobals = {
  true: true,
  false: false,
  none: null,
  True: true,
  False: false,
  None: null,
  raise_exception: (message: string) => {
    throw new Error(message);
  },
  range: boundedRange,
  // Some templates print the day; a fixed one (Llama's own default) keeps prompts the same when a run is resumed.
  strftime_now: () => '26 Jul 2024',
};

/** Jinja's `range`, which would otherwise fill the memory with numbers before any time-out. */
function boundedRange(first: number, second?: number, step = 1): number[] {
  const [start, end] = second === undefined ? [0, first] : [first, second];
  const length = step === 0 ? Infinity : Math.max(0, Math.ceil((end - start) / step));
  if (!(length <= longestRange)) throw new Error(`range gives more than ${longestRange} numbers`);
  return Array.from({ length }, (_, index) => start + index * step);
}

/**
 * A message in the form that chat templates read: OpenAI's, with arguments as an object. An assistant's message without
 * calls is its raw text: the template sees what was sampled.
 */
function templateMessage(message: Message): Record<string, unknown> {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.content };
    case 'tool':
      return {
        role: 'tool',
        content: message.content,
        tool_call_id: nineCharacterId(message.toolCallId),
        name: message.name,
      };
    case 'assistant':
      return {
        role: 'assistant',
        content: message.toolCalls.length === 0 ? message.raw : message.content,
        ...(message.thinking === undefined ? {} : { reasoning_content: message.thinking }),
        ...(message.toolCalls.length === 0 ? {} : { tool_calls: callsOf(message) }),
      };
  }
}

const callsOf = ({ toolCalls }: AssistantMessage) =>
  toolCalls.map(({ id, name, arguments: args }) => ({
    id: nineCharacterId(id),
    type: 'function',
    function: { name, arguments: args },
  }));

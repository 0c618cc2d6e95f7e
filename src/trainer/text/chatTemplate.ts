import { Template } from '@huggingface/jinja';
import { badInput } from '../../trajectory/errors.js';
import type { AssistantMessage, Message, ToolSchema } from '../../trajectory/message.js';
import { nineCharacterId } from './toolFormats/callId.js';

/** A checkpoint's own chat template (Jinja), rendering messages to text. */
export interface ChatTemplate {
  render(messages: readonly Message[], tools: readonly ToolSchema[], options: { generationPrompt: boolean }): string;
}

/** `specialTokens`: what templates read by name, e.g. `bos_token`. Throws `bad-input` where the Jinja does not parse. */
export function compileChatTemplate(
  source: string,
  specialTokens: Readonly<Record<string, string>>,
  where: string,
): ChatTemplate {
  const attempt = <T>(action: () => T, what: string): T => {
    try {
      return action();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw badInput(`The chat template in '${where}' ${what}: ${reason}.`, 'Use a model with a chat template.', error);
    }
  };
  // Some templates print the day; a fixed one (Llama's own default) keeps prompts the same when a run is resumed.
  const template = attempt(() => new Template(source.replaceAll('strftime_now', 'fixed_day')), 'does not parse');
  return {
    render: (messages, tools, { generationPrompt }) =>
      attempt(
        () =>
          template.render({
            ...specialTokens,
            fixed_day: () => '26 Jul 2024',
            messages: messages.map(templateMessage),
            tools: tools.length > 0 ? tools : null,
            add_generation_prompt: generationPrompt,
          }),
        'does not render this conversation',
      ),
  };
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

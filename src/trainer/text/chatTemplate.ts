import { Template } from '@huggingface/jinja';
import { badInput } from '../../trajectory/errors.js';
import type { Message, ToolSchema } from '../../trajectory/message.js';
import { parseAssistantText } from './toolCalls.js';

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
  const template = attempt(() => new Template(source), 'does not parse');
  return {
    render: (messages, tools, { generationPrompt }) =>
      attempt(
        () =>
          template.render({
            ...specialTokens,
            messages: messages.map(templateMessage),
            tools: tools.length > 0 ? tools : null,
            add_generation_prompt: generationPrompt,
          }),
        'does not render this conversation',
      ),
  };
}

/** A message in the form that chat templates read: OpenAI's, with arguments as an object. */
function templateMessage(message: Message): Record<string, unknown> {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.content };
    case 'tool':
      return { role: 'tool', content: message.content, tool_call_id: message.toolCallId, name: message.name };
    case 'assistant':
      return {
        role: 'assistant',
        content: message.content,
        ...(message.thinking === undefined ? {} : { reasoning_content: message.thinking }),
        ...(message.toolCalls.length === 0
          ? {}
          : {
              tool_calls: message.toolCalls.map(({ id, name, arguments: args }) => ({
                id,
                type: 'function',
                function: { name, arguments: args },
              })),
            }),
      };
  }
}

/**
 * Tells where a template renders an earlier turn differently once the conversation goes on (e.g. thinking stripped).
 * Episodes are not harmed, since stored ids are never rendered again; but the model then sees turns in a form that
 * it was not made with. Empty where nothing is rewritten.
 */
export function templateRewritesHistory(template: ChatTemplate): string[] {
  const call = '<tool_call>\n{"name": "open", "arguments": {"path": "a.js"}}\n</tool_call>';
  const turns = {
    'a turn with a tool call': call,
    'a turn with thinking and a tool call': `<think>\nI look.\n</think>\n${call}`,
    'a turn of plain text': 'Done.',
  };
  const opening: Message[] = [
    { role: 'system', content: 'You mend code.' },
    { role: 'user', content: 'Mend it.' },
  ];
  const continuations: Record<string, Message[]> = {
    'a tool answered': [{ role: 'tool', toolCallId: 'call-0', name: 'open', content: 'An answer.' }],
    'another user message came': [{ role: 'user', content: 'Go on.' }],
  };
  const findings: string[] = [];
  for (const [turnName, raw] of Object.entries(turns))
    for (const [continuationName, messages] of Object.entries(continuations)) {
      const turn = parseAssistantText(raw);
      if (turn.toolCalls.length === 0 && messages[0]!.role === 'tool') continue;
      const prompt = template.render(opening, [], { generationPrompt: true });
      const later = template.render([...opening, turn, ...messages], [], { generationPrompt: true });
      // Blank lines after the thinking are the model's own habit: one or two line feeds are both right.
      const kept = [raw, raw.replace('</think>\n', '</think>\n\n')].some((text) => later.startsWith(prompt + text));
      if (!kept) findings.push(`${turnName} is rewritten after ${continuationName}`);
    }
  return findings;
}

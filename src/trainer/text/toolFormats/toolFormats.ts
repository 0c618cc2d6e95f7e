import { hermes } from './hermes.js';
import { llama3 } from './llama3.js';
import { mistral } from './mistral.js';
import { qwen3Coder } from './qwen3Coder.js';
import { react } from './react.js';
import { type ToolFormat, type ToolFormatName, toolFormatNames } from './toolFormat.js';

/** Every format by its name. */
export const toolFormats: Readonly<Record<ToolFormatName, ToolFormat>> = {
  'qwen3-coder': qwen3Coder,
  hermes,
  mistral,
  llama3,
  react,
};

/** The first format that reads the probing call out of how a template wrote it; null where none does. */
export function formatThatReads(
  written: string,
  probe: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> },
): ToolFormat | null {
  for (const name of toolFormatNames) {
    const { calls, problem } = toolFormats[name].find(written, []);
    const [call] = calls;
    if (problem !== null || calls.length !== 1 || call === undefined || call.name !== probe.name) continue;
    if (JSON.stringify(call.arguments) === JSON.stringify(probe.arguments)) return toolFormats[name];
  }
  return null;
}

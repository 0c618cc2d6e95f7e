import { failureOf } from '../../env/tools/failure.js';
import type { ToolCall } from '../../trajectory/message.js';
import type { Trajectory } from '../../trajectory/trajectory.js';

/** A tool's call with its answer. */
export interface PlayedCall {
  /** 0-based, among all that the policy said, what it was asked beside the play included. */
  readonly turn: number;
  readonly tool: string;
  readonly arguments: ToolCall['arguments'];
  readonly answer: string;
  /** Whether it could do what it was asked, and what it ran did not fail. */
  readonly went: boolean;
}

/** What an episode's policy called, in order, with what the tools answered: all that its record bears witness to. */
export function playedCalls({ nodes }: Pick<Trajectory, 'nodes'>): PlayedCall[] {
  let asked = new Map<string, ToolCall>();
  let turn = -1;
  return nodes.flatMap(({ message }) => {
    if (message.role === 'assistant') {
      asked = new Map(message.toolCalls.map((call) => [call.id, call]));
      turn += 1;
    }
    if (message.role !== 'tool') return [];
    const { toolCallId, name, content } = message;
    return [
      {
        turn,
        tool: name,
        arguments: asked.get(toolCallId)?.arguments ?? {},
        answer: content,
        went: failureOf(message) === null,
      },
    ];
  });
}

const changes = new Set(['choose', 'edit', 'apply_patch']);

/** Whether the call changed a file. */
export const hasChanged = ({ tool, went }: PlayedCall) => changes.has(tool) && went;

const testing = new Set(['run_tests', 'choose']);

/** Whether the tool runs tests. */
export const isTesting = (tool: string) => testing.has(tool);

const counts = /^(\d+) passed, (\d+) failed/;

/** How many tests passed and failed by a call's answer; null where it ran none, or they gave no results. */
export function testCounts({ tool, answer }: PlayedCall): { readonly passed: number; readonly failed: number } | null {
  const found = isTesting(tool) ? counts.exec(answer) : null;
  return found && { passed: Number(found[1]), failed: Number(found[2]) };
}

import type { ToolMessage } from '../../trajectory/message.js';
import { toolCall } from '../warmStart/turnText.js';

/** Turns of a script that makes one call after the other, runs the tests behind each until they pass, and submits. */
export function* attempts(calls: readonly string[]): Generator<string, void, readonly ToolMessage[]> {
  for (const call of calls) {
    const observed = yield `${call}\n${toolCall('run_tests', {})}`;
    if (observed.some(({ content }) => /^\d+ passed, 0 failed/.test(content))) break;
  }
  yield toolCall('submit', {});
}

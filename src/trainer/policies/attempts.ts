import type { ToolMessage } from '../../trajectory/message.js';
import { toolCall } from '../warmStart/turnText.js';

/** Turns of a script that says one turn after the other until the tests pass, and submits. */
export function* attempts(turns: readonly string[]): Generator<string, void, readonly ToolMessage[]> {
  for (const turn of turns) {
    const observed = yield turn;
    if (observed.some(({ content }) => /^\d+ passed, 0 failed/.test(content))) break;
  }
  yield toolCall('submit', {});
}

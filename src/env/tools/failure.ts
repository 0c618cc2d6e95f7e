import type { ToolMessage } from '../../trajectory/message.js';
import { applyPatch } from './applyPatch.js';
import { choose } from './choose.js';
import { edit } from './edit.js';
import { runCommand } from './runCommand.js';
import { runTests } from './runTests.js';
import { suggest } from './suggest.js';
import { suspects } from './suspects.js';

const notListed = /^No (?:function|change) \d.*/;

/** What each tool says where it could not do what it was asked, or where what it ran failed. */
const ownFailures: ReadonlyMap<string, RegExp> = new Map([
  [runCommand.name, /^(?:exit code \d+|timed out after [\d.]+ s|ended by a signal)$(?![\s\S])/m],
  [
    runTests.name,
    /^(?:\d+ passed, [1-9]\d* failed.*|The tests timed out\.|The test run crashed .*|No tests were found\.)/,
  ],
  [edit.name, /^(?:Not edited|Nothing changed): .*/],
  [suspects.name, /^No function .*/],
  [suggest.name, notListed],
  [choose.name, notListed],
  [applyPatch.name, /^Not applied: .*/],
]);
/** What any tool says of a path or an argument that it refuses. */
const refusal = /^(?:Not possible: .*|Unknown tool ".*|Malformed tool call: .*|No file ".*|"[^"]*" (?:is|belongs) .*)/;

/** The line of an observation that says what went wrong with the call; null where it went well. */
export function failureOf({ name, content }: Pick<ToolMessage, 'name' | 'content'>): string | null {
  const argument = content.startsWith(`${name}: `) ? content.split('\n', 1)[0] : undefined;
  return argument ?? refusal.exec(content)?.[0] ?? ownFailures.get(name)?.exec(content)?.[0] ?? null;
}

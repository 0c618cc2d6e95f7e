import { renderEdit } from '../../../src/env/tools/edit.js';
import { lineEdit, type LineEdit } from '../../../src/trainer/warmStart/lineEdit.js';
import { editCall, thinking, thoughtOf } from '../../../src/trainer/warmStart/turnText.js';
import type { EpisodeTurn } from './episode.js';

/** An edit, and the text before and after it. */
export interface EditStep {
  readonly step: LineEdit;
  readonly before: string;
  readonly after: string;
}

/** Characters of `old` and `new` of an edit that a turn has room for. */
const longestEdit = 320;

/**
 * From `current` to `wanted`; where the current text holds an attempt that failed on another line than the one at fault,
 * it is first put back to `buggy`. Null where that can not be said in short edits.
 */
export function editSteps(current: string, wanted: string, buggy: string): readonly EditStep[] | null {
  const direct = lineEdit(current, wanted);
  if (direct === null) return null;
  const back = current === buggy ? null : lineEdit(current, buggy);
  const forth = back === null ? null : lineEdit(buggy, wanted);
  const steps =
    back === null || forth === null || (back.line === forth.line && !back.old.includes('\n'))
      ? [{ step: direct, before: current, after: wanted }]
      : [
          { step: back, before: current, after: buggy },
          { step: forth, before: buggy, after: wanted },
        ];
  return steps.some(({ step }) => step.old.length + step.new.length > longestEdit) ? null : steps;
}

/** The turn that takes the steps, with the thought that leads to the last of them. */
export function attemptTurn(
  suspect: string | null,
  path: string,
  steps: readonly EditStep[],
  train: boolean,
): EpisodeTurn {
  const { step: last, before } = steps.at(-1)!;
  return {
    raw: thinking(thoughtOf(suspect, before, last)) + steps.map(({ step }) => editCall(path, step)).join('\n'),
    train,
    observations: steps.map((one) => ({ name: 'edit', content: renderEdit(path, one.before, one.after) })),
  };
}

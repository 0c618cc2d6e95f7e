import { say } from '../../trajectory/said.js';
import { countOf, isObject, listOf, numberOf, parseJsonOrLines, wrong, type JsonObject } from './json.js';

export type CurveFormat = 'transformers' | 'verl-log';

/** What another trainer noted of one step, by its own names. */
export interface StepMetrics {
  readonly step: number;
  readonly metrics: Readonly<Record<string, number>>;
}

export interface ForeignCurves {
  readonly format: CurveFormat;
  /** By step, ascending, one of each. */
  readonly steps: readonly StepMetrics[];
}

/**
 * Reads the curves of a training elsewhere: `trainer_state.json` of transformers' Trainer (TRL's too), or what verl's logger `file`
 * writes. Null where the text is neither. Throws bad-input where it is one of them and names no step.
 */
export function readForeignCurves(text: string, name: string): ForeignCurves | null {
  // Python writes numbers that are none as JSON does not know them; a point that is missing stays missing.
  const values = valuesOf(text.replace(/(:\s*)(?:NaN|-?Infinity)(?=\s*[,}])/g, '$1null'), name);
  const [first] = values;
  if (isTrainerState(first)) return { format: 'transformers', steps: bySteps(listOf(first.log_history), name) };
  if (values.length > 0 && values.every(isVerlEntry)) {
    const entries = values.map(({ step, data }) => ({ ...data, step }));
    return { format: 'verl-log', steps: bySteps(entries, name) };
  }
  return null;
}

function valuesOf(text: string, name: string): unknown[] {
  try {
    return parseJsonOrLines(text, name);
  } catch {
    return [];
  }
}

const isTrainerState = (value: unknown): value is JsonObject =>
  isObject(value) && Array.isArray(value.log_history) && 'global_step' in value;

const isVerlEntry = (value: unknown): value is { step: unknown; data: JsonObject } =>
  isObject(value) && 'step' in value && isObject(value.data);

/** Several entries may tell of one step: its training, its evaluation. Sums over the whole training are of no step. */
function bySteps(entries: readonly unknown[], name: string): StepMetrics[] {
  const steps = new Map<number, Record<string, number>>();
  entries.forEach((entry, index) => {
    const step = isObject(entry) ? countOf(entry.step) : undefined;
    if (!isObject(entry) || step === undefined) throw wrong(`${name}: entry ${index + 1}`, say`it has no step`);
    const metrics = steps.get(step) ?? {};
    for (const [key, value] of Object.entries(entry)) {
      const number = numberOf(value);
      if (number !== undefined && key !== 'step' && !key.startsWith('train_')) metrics[key] = number;
    }
    steps.set(step, metrics);
  });
  return [...steps].sort(([a], [b]) => a - b).map(([step, metrics]) => ({ step, metrics }));
}

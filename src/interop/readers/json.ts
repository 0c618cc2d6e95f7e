import { badInput } from '../../trajectory/errors.js';
import { say, type Said } from '../../trajectory/said.js';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Where a value was found, for the line that says what is wrong with it: `file: row 3`. */
export interface Row {
  readonly value: JsonObject;
  readonly where: string;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
export const countOf = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

export const wrong = (where: string, what: Said, cause?: unknown) =>
  badInput(say`${where}: ${what}.`, 'Give a file as the other system wrote it.', cause);

/** The JSON value of a text. Throws bad-input. */
export function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw wrong(where, say`it is not JSON (${(error as Error).message})`, error);
  }
}

/** The values of a file: one, or one a line. Throws bad-input where it is neither. */
export function parseJsonOrLines(text: string, where: string): unknown[] {
  const trimmed = text.replace(/^\ufeff/, '').trim();
  if (trimmed === '') throw wrong(where, say`it is empty`);
  try {
    return [JSON.parse(trimmed)];
  } catch {
    return trimmed
      .split('\n')
      .map((line, index) => ({ line: line.trim(), where: `${where}: line ${index + 1}` }))
      .filter(({ line }) => line !== '')
      .map(({ line, where: lineWhere }) => parseJson(line, lineWhere));
  }
}

import { WhetstoneError } from '../trajectory/errors.js';
import { ofEngine } from './translate.js';

/** One line for a person, in their language, whatever was thrown. */
export function lineOf(error: unknown): string {
  if (error instanceof WhetstoneError) return oneLine(ofEngine(error.said));
  return error instanceof Error ? oneLine(error.message) : String(error);
}

const oneLine = (text: string) => text.replace(/\s*\n\s*/g, ' ');

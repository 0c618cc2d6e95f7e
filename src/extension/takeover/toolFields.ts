import { t } from '../translate.js';
import type { PersonTool } from './personEpisode.js';

/** One argument of a tool, as a person is asked for it. */
export interface ToolField {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'list';
  readonly isRequired: boolean;
}

/** The tool's arguments as its JSON schema names them, those that it needs first. */
export function fieldsOf({ parameters: { properties, required } }: PersonTool): readonly ToolField[] {
  const fields = Object.entries(properties).map(([name, { type }]): ToolField => {
    const isRequired = required.includes(name);
    switch (type) {
      case 'integer':
      case 'number':
      case 'boolean':
        return { name, type, isRequired };
      case 'array':
        return { name, type: 'list', isRequired };
      default:
        return { name, type: 'string', isRequired };
    }
  });
  return [...fields.filter(({ isRequired }) => isRequired), ...fields.filter(({ isRequired }) => !isRequired)];
}

/** The argument that a text stands for (undefined: none), or what is wrong with the text. */
export function readField(
  { type, isRequired }: ToolField,
  text: string,
): { readonly value: unknown } | { readonly problem: string } {
  // An empty text can be meant: an edit that takes something away.
  if (text === '' && !(isRequired && type === 'string')) {
    return isRequired ? { problem: t('It is needed.') } : { value: undefined };
  }
  switch (type) {
    case 'string':
      return { value: text };
    case 'integer':
      return /^-?\d+$/.test(text.trim()) ? { value: Number(text) } : { problem: t('It must be a whole number.') };
    case 'number':
      return Number.isFinite(Number(text)) ? { value: Number(text) } : { problem: t('It must be a number.') };
    case 'boolean':
      return /^(true|false)$/.test(text.trim())
        ? { value: text.trim() === 'true' }
        : { problem: t('It must be true or false.') };
    case 'list':
      return {
        value: text
          .split(/[,\n]/)
          .map((part) => part.trim())
          .filter((part) => part !== ''),
      };
  }
}

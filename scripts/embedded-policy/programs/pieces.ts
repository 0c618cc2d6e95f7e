import type { Rng } from './rng.js';
import { camel, noun, variable } from './names.js';
import type { Fields } from './values.js';

/** A parameter of a template: its placeholder and the kind of its values. */
export interface Parameter {
  readonly placeholder: string;
  readonly kind: string;
}

export function parseParameters(text: string): Parameter[] {
  return text
    .split(/\s+/)
    .filter((part) => part !== '')
    .map((part) => {
      const [placeholder, kind] = part.split(':');
      return { placeholder: placeholder!, kind: kind! };
    });
}

const FIELD_NAMES = {
  name: ['name', 'label', 'id', 'title', 'key', 'kind', 'code', 'owner'],
  num: ['price', 'cost', 'score', 'value', 'weight', 'points', 'rate', 'age', 'size'],
  qty: ['count', 'quantity', 'stock', 'amount', 'units', 'copies', 'hits'],
};

export function chooseFields(rng: Rng): Fields {
  const choose = (names: readonly string[]) =>
    rng.chance(0.75) ? rng.pick(names) : camel([noun(rng), rng.pick(names)]);
  return { name: choose(FIELD_NAMES.name), num: choose(FIELD_NAMES.num), qty: choose(FIELD_NAMES.qty) };
}

export interface Filled {
  readonly body: string;
  /** Names of the parameters, in order. */
  readonly parameters: readonly string[];
  /** Constants that were put in. */
  readonly constants: readonly number[];
}

/** Fills a template's placeholders. The same placeholder becomes the same name throughout. */
export function fillTemplate(
  rng: Rng,
  body: string,
  parameters: readonly Parameter[],
  fields: Fields,
  taken: ReadonlySet<string>,
  separator: 'camel' | 'snake',
  known = new Map<string, string>(),
): Filled {
  const names = known;
  const used = new Set([...taken, ...Object.values(fields)]);
  const constants: number[] = [];
  const fill = (text: string): string =>
    text
      .replace(
        /\$(list|words|text|num|bool|acc|index|item|out|string|map|value|flag)(\d+)/g,
        (placeholder, role: string) => {
          if (!names.has(placeholder)) names.set(placeholder, variable(rng, role, used, separator));
          return names.get(placeholder)!;
        },
      )
      .replace(/#(a2|a|b|c)/g, (placeholder, size: string) => {
        if (!names.has(placeholder)) {
          const [low, high] = ({ a: [1, 4], a2: [2, 5], b: [5, 14], c: [20, 100] } as const)[
            size as 'a' | 'a2' | 'b' | 'c'
          ];
          names.set(placeholder, String(rng.int(low, high)));
        }
        constants.push(Number(names.get(placeholder)));
        return names.get(placeholder)!;
      })
      .replace(/%w\d?/g, (placeholder) => {
        if (!names.has(placeholder)) names.set(placeholder, noun(rng));
        return names.get(placeholder)!;
      })
      .replace(/@(name|num|qty)/g, (_, field: keyof Fields) => fields[field]);
  const parameterNames = parameters.map(({ placeholder }) => fill(placeholder));
  return { body: fill(body), parameters: parameterNames, constants };
}

const PHRASES = [
  'works in the usual case',
  'at the limit',
  'handles the edge',
  'with a small input',
  'with a larger input',
  'gives the right answer',
  'is correct',
  'does what it says',
  'one more example',
  'basic',
  'keeps its promise',
  'on ordinary input',
  'when called once',
  'another case',
];

/** What a test's name says after the function's name. `input` and `output` are literals. */
export function phrase(rng: Rng, about: string, input: string, output: string): string {
  const short = (text: string) => (text.length <= 18 ? text.replaceAll("'", '').replaceAll('"', '') : '');
  const [given, result] = [short(input), short(output)];
  const kind = rng.next();
  if (kind < 0.25 && given !== '') return rng.pick(['of ', 'for ', 'with ', 'handles ', 'takes ']) + given;
  if (kind < 0.45 && result !== '') return rng.pick(['gives ', 'returns ', 'is ', 'yields ', 'comes to ']) + result;
  if (kind < 0.6 && given !== '' && result !== '') return `turns ${given} into ${result}`;
  if (kind < 0.75) return about.slice(0, 1).toLowerCase() + about.slice(1);
  return rng.pick(PHRASES);
}

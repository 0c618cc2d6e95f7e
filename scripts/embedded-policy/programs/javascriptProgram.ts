import vm from 'node:vm';
import type { Rng } from './rng.js';
import { camel, capital, freshName, functionWords, invented, noun } from './names.js';
import { CLASSES, FUNCTIONS, type ClassTemplate, type FunctionTemplate } from './javascriptTemplates.js';
import { chooseFields, fillTemplate, parseParameters, phrase } from './pieces.js';
import type { Program } from './program.js';
import { randomFunction } from './randomFunction.js';
import { type Fields, javascriptLiteral, typeOf, type Value, valueOf } from './values.js';

/** A call and what it gave: `throws` where it threw a RangeError. */
interface Example {
  readonly call: string;
  readonly input: string;
  readonly outcome: { readonly value: Value } | { readonly throws: string };
}

interface Subject {
  /** What is exported. */
  readonly name: string;
  /** What tests are named after; a class has several. */
  readonly code: string;
  readonly about: string;
  examples(
    evaluate: Evaluate,
  ): { readonly test: string; readonly setup: readonly string[]; readonly example: Example }[];
}

type Evaluate = (expression: string) => Example['outcome'] | null;

interface Style {
  readonly small: boolean;
  readonly typescript: boolean;
  readonly commonjs: boolean;
  readonly exportList: boolean;
  readonly arrows: number;
  readonly indent: string;
  readonly semicolons: boolean;
  readonly doubleQuotes: boolean;
  readonly comments: number;
  readonly blankLines: boolean;
  readonly increments: number;
}

/** A module of one to six functions (or a class) and its tests, which were found by running it. Null where it is of no use. */
export function javascriptProgram(
  rng: Rng,
  options: { typescript: boolean; commonjs: boolean; small: boolean },
): Program | null {
  const style: Style = {
    ...options,
    exportList: rng.chance(0.25),
    arrows: rng.chance(0.3) ? 0.8 : 0.05,
    indent: rng.pick(['  ', '  ', '  ', '  ', '    ', '\t']),
    semicolons: rng.chance(0.87),
    doubleQuotes: rng.chance(0.2),
    comments: rng.pick([0, 0.4, 0.8, 1]),
    blankLines: rng.chance(0.2),
    increments: rng.chance(0.5) ? 1 : 0,
  };
  const fields = chooseFields(rng);
  const taken = new Set<string>();
  const withClass = rng.chance(options.small ? 0.1 : 0.17);
  const sizes = options.small ? [1, 1, 1, 2, 2] : [1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 5, 6];
  const count = withClass ? (options.small ? 0 : rng.pick([0, 0, 1])) : rng.pick(sizes);
  const subjects: Subject[] = [];
  if (withClass) subjects.push(classSubject(rng, rng.pick(CLASSES), style, fields, taken));
  for (let i = 0; i < count; i += 1) {
    const template = rng.chance(0.25) ? randomFunction(rng) : rng.pick(FUNCTIONS);
    subjects.push(functionSubject(rng, template, style, fields, taken));
  }
  const source = renderModule(rng, subjects, style);
  const extension = options.typescript ? 'ts' : 'js';
  const stem = fileStem(rng, subjects);
  const place = rng.pick(PLACES);
  const sourcePath = place.source.replace('*', `${stem}.${extension}`);
  const testPath = place.test.replace('*', stem).replace('.js', `.${extension}`);
  const evaluate = evaluator(subjects.map((subject) => subject.code).join('\n\n'));
  if (evaluate === null) return null;
  const test = renderTests(rng, subjects, style, evaluate, relativeImport(testPath, sourcePath));
  if (test === null) return null;
  return {
    language: options.typescript ? 'typescript' : 'javascript',
    modules: options.commonjs ? 'commonjs' : 'esm',
    sourcePath,
    source,
    testPath,
    test,
    names: subjects.map((subject) => subject.name),
  };
}

const PLACES = [
  { source: 'src/*', test: 'test/*.test.js' },
  { source: 'src/*', test: 'test/*.test.js' },
  { source: 'src/*', test: 'tests/*.test.js' },
  { source: 'lib/*', test: 'test/*.test.js' },
  { source: 'lib/*', test: 'test/*.js' },
  { source: 'src/*', test: 'src/*.test.js' },
  { source: 'lib/*', test: 'lib/*.test.js' },
  { source: '*', test: 'test/*.test.js' },
  { source: '*', test: '*.test.js' },
  { source: 'src/utils/*', test: 'test/utils/*.test.js' },
  { source: 'source/*', test: 'test/*.test.js' },
  { source: 'packages/core/src/*', test: 'packages/core/test/*.test.js' },
];

function fileStem(rng: Rng, subjects: readonly Subject[]): string {
  const kind = rng.next();
  if (kind < 0.25)
    return subjects[0]!.name.replace(/[A-Z]/g, (letter, at: number) => (at > 0 ? '-' : '') + letter.toLowerCase());
  if (kind < 0.45) return subjects[0]!.name;
  if (kind < 0.8) return noun(rng);
  return rng.chance(0.5) ? invented(rng) : `${noun(rng)}-${noun(rng)}`;
}

function relativeImport(from: string, to: string): string {
  const [a, b] = [from.split('/').slice(0, -1), to.split('/')];
  let shared = 0;
  while (shared < a.length && a[shared] === b[shared]) shared += 1;
  const up = a.length - shared;
  return (up === 0 ? './' : '../'.repeat(up)) + b.slice(shared).join('/');
}

/** Other spellings of the same program. */
function restyle(rng: Rng, code: string, style: Style): string {
  let text = code;
  if (style.increments === 1)
    text = text.replace(/(\b[\w$]+) \+= 1(?=[;)])/g, '$1++').replace(/(\b[\w$]+) -= 1(?=[;)])/g, '$1--');
  if (style.doubleQuotes && !text.includes('"') && !text.includes('`')) text = text.replaceAll("'", '"');
  if (!style.semicolons && !/^\s*[[(`]/m.test(text)) text = text.replace(/;$/gm, '');
  if (style.indent !== '  ') text = text.replace(/^( {2})+/gm, (spaces) => style.indent.repeat(spaces.length / 2));
  if (rng.chance(0.15))
    text = text.replace(/^(\s*)if \((.*)\) (return|break|throw)( ?.*)$/gm, `$1if ($2) {\n$1${style.indent}$3$4\n$1}`);
  return text;
}

function functionSubject(
  rng: Rng,
  template: FunctionTemplate,
  style: Style,
  fields: Fields,
  taken: Set<string>,
): Subject {
  const name = freshName(() => camel(functionWords(rng, template.verbs.split(' '))), taken);
  const parameters = parseParameters(template.params);
  const filled = fillTemplate(rng, template.body, parameters, fields, taken, 'camel');
  const typed = filled.parameters.map((parameter, i) =>
    style.typescript ? `${parameter}: ${typeOf(parameters[i]!.kind, fields)}` : parameter,
  );
  const result = style.typescript ? `: ${template.returns}` : '';
  let body = filled.body;
  if (style.typescript) {
    body = body.replace(/(const|let) (\w+) = (\{\}|\[\]|null);/g, '$1 $2: any = $3;').replace('.reduce((', '.reduce((');
  }
  const lines = body.split('\n');
  const single = lines.length === 1 && lines[0]!.trim().startsWith('return ');
  let code: string;
  if (rng.chance(style.arrows)) {
    const list = typed.length === 1 && !style.typescript && rng.chance(0.3) ? typed[0]! : `(${typed.join(', ')})`;
    code =
      single && rng.chance(0.7)
        ? `const ${name} = ${list}${result} => ${lines[0]!.trim().slice(7)}`
        : `const ${name} = ${list}${result} => {\n${body}\n};`;
  } else {
    code = `function ${name}(${typed.join(', ')})${result} {\n${body}\n}`;
  }
  return {
    name,
    code: restyle(rng, code, style),
    about: template.about,
    examples(evaluate) {
      const examples = [];
      for (let i = 0; i < 12; i += 1) {
        const input = parameters
          .map(({ kind }) => javascriptLiteral(valueOf(rng, kind, fields, filled.constants)))
          .join(', ');
        const call = `${name}(${input})`;
        const outcome = evaluate(call);
        if (outcome !== null) examples.push({ test: name, setup: [], example: { call, input, outcome } });
      }
      return varied(rng, examples, style.small ? rng.int(2, 4) : rng.int(2, 5));
    },
  };
}

function classSubject(rng: Rng, template: ClassTemplate, style: Style, fields: Fields, taken: Set<string>): Subject {
  const name = freshName(
    () =>
      rng.chance(0.5) ? rng.pick(template.names.split(' ')) : capital(noun(rng)) + rng.pick(template.names.split(' ')),
    taken,
  );
  const memberA = rng.chance(0.7) ? noun(rng) : invented(rng);
  const memberB = freshName(() => (rng.chance(0.7) ? noun(rng) : invented(rng)), new Set([memberA, 'limit', 'best']));
  const members = (text: string) => text.replaceAll('~a', memberA).replaceAll('~b', memberB);
  const construct = parseParameters(template.construct);
  const chosen = template.methods.filter((_, i) => i === 0 || rng.chance(0.85));
  const methodNames = new Set<string>([memberA, memberB, 'limit', 'best']);
  const constants = new Map<string, string>();
  const head = fillTemplate(rng, members(template.head), construct, fields, taken, 'camel', constants);
  const built = chosen.map((method) => {
    const methodName = freshName(
      () => (rng.chance(0.8) ? rng.pick(method.name.split(' ')) : camel(functionWords(rng, method.name.split(' ')))),
      methodNames,
    );
    const parameters = parseParameters(method.params);
    const known = new Map([...constants].filter(([key]) => key.startsWith('#')));
    const filled = fillTemplate(rng, members(method.body), parameters, fields, taken, 'camel', known);
    for (const [key, value] of known) if (key.startsWith('#')) constants.set(key, value);
    const opening = `  ${method.getter ? 'get ' : ''}${methodName}(${filled.parameters.join(', ')}) {`;
    return { methodName, parameters, filled, getter: method.getter === true, code: `${opening}\n${filled.body}\n  }` };
  });
  const code = `class ${name} {\n${head.body.replace(/^\n/, '')}\n\n${built.map((method) => method.code).join('\n\n')}\n}`;
  const all = [...head.constants, ...built.flatMap((method) => method.filled.constants)];
  return {
    name,
    code: restyle(rng, code, style),
    about: template.about,
    examples(evaluate) {
      const instance = rng.pick([name.slice(0, 1).toLowerCase() + name.slice(1), 'it', 'subject', 'one', noun(rng)]);
      const safe = instance === name ? 'it' : instance;
      const examples = [];
      for (let round = 0; round < 16; round += 1) {
        const opening = `new ${name}(${construct.map(({ kind }) => javascriptLiteral(valueOf(rng, kind, fields, all))).join(', ')})`;
        const calls = Array.from({ length: rng.int(1, 4) }, () => {
          const method = rng.pick(built);
          const input = method.parameters
            .map(({ kind }) => javascriptLiteral(valueOf(rng, kind, fields, all)))
            .join(', ');
          return {
            method,
            input,
            text: method.getter ? `${safe}.${method.methodName}` : `${safe}.${method.methodName}(${input})`,
          };
        });
        const last = calls.at(-1)!;
        const setup = [
          `const ${safe} = ${opening};`,
          ...calls
            .slice(0, -1)
            .filter((call) => !call.method.getter)
            .map((call) => `${call.text};`),
        ];
        const outcome = evaluate(`(() => { ${setup.join(' ')} return ${last.text}; })()`);
        if (outcome !== null && !/\b(class|new|default)\b/.test(safe)) {
          examples.push({
            test: last.method.methodName,
            setup,
            example: { call: last.text, input: last.input, outcome },
          });
        }
      }
      return varied(rng, examples, style.small ? rng.int(3, 5) : rng.int(4, 8));
    },
  };
}

/** At most `count`, those with different outcomes first. */
function varied<T extends { readonly example: Example }>(rng: Rng, examples: readonly T[], count: number): T[] {
  const seen = new Set<string>();
  const calls = new Set<string>();
  const fresh: T[] = [];
  const others: T[] = [];
  for (const item of examples) {
    const whole = JSON.stringify(item);
    if (calls.has(whole)) continue;
    calls.add(whole);
    const outcome = JSON.stringify(item.example.outcome);
    (seen.has(outcome) ? others : fresh).push(item);
    seen.add(outcome);
  }
  return rng.shuffle([...fresh, ...others].slice(0, count));
}

/** Runs expressions beside the module's code; null where the result can not be written down or takes too long. */
function evaluator(code: string): Evaluate | null {
  const context = vm.createContext({});
  try {
    vm.runInContext(stripTypes(code), context, { timeout: 200 });
  } catch {
    return null;
  }
  return (expression) => {
    try {
      const json: unknown = vm.runInContext(
        `(() => { try { const v = (${expression}); return JSON.stringify({ value: v, odd: v === undefined || Object.is(v, -0) || (typeof v === 'number' && !Number.isFinite(v)) || /null|undefined|NaN/.test(String(v)) && v !== null }); } catch (e) { return JSON.stringify({ throws: e.name }); } })()`,
        context,
        { timeout: 50 },
      );
      const outcome = JSON.parse(json as string) as { value: Value; odd: boolean; throws?: string };
      if (outcome.throws !== undefined) return outcome.throws === 'RangeError' ? { throws: outcome.throws } : null;
      if (outcome.odd || JSON.stringify(outcome.value).length > 120) return null;
      return { value: outcome.value };
    } catch {
      return null;
    }
  };
}

/** Enough for what this generator writes. */
export function stripTypes(code: string): string {
  return code
    .replace(
      /^(?:function (\w+)|const (\w+) = )\((.*)\): [^=]*?( =>| \{)(?=[ {\n]|$)/gm,
      (_, f: string, c: string, list: string, end: string) => {
        const plain = list.replace(/(\w+): (\{[^}]*\}\[\]|Record<[^>]*>|[\w[\]]+)/g, '$1');
        return f === undefined ? `const ${c} = (${plain})${end}` : `function ${f}(${plain})${end}`;
      },
    )
    .replace(/^(\s*(?:const|let) \w+): any =/gm, '$1 =');
}

function renderModule(rng: Rng, subjects: readonly Subject[], style: Style): string {
  const pieces = subjects.map((subject) => {
    const keyword = style.commonjs || style.exportList ? '' : 'export ';
    const comment = rng.chance(style.comments)
      ? rng.chance(0.6)
        ? `/** ${subject.about}. */\n`
        : `// ${subject.about}\n`
      : '';
    return comment + keyword + subject.code;
  });
  const names = subjects.map((subject) => subject.name).join(', ');
  const end = style.semicolons ? ';' : '';
  if (style.commonjs) pieces.push(`module.exports = { ${names} }${end}`);
  else if (style.exportList) pieces.push(`export { ${names} }${end}`);
  if (style.commonjs && rng.chance(0.4)) pieces.unshift("'use strict';");
  return pieces.join(style.blankLines ? '\n\n\n' : '\n\n') + '\n';
}

function renderTests(
  rng: Rng,
  subjects: readonly Subject[],
  style: Style,
  evaluate: Evaluate,
  path: string,
): string | null {
  const strict = rng.chance(0.7);
  const equal = rng.chance(0.4) ? 'strictEqual' : 'equal';
  const deep = rng.chance(0.4) ? 'deepStrictEqual' : 'deepEqual';
  const grouped = rng.chance(0.2);
  const word = grouped && rng.chance(0.6) ? 'it' : 'test';
  const named = rng.chance(0.9);
  const blocks: string[] = [];
  const titles = new Set<string>();
  let total = 0;
  for (const subject of subjects) {
    const examples = subject.examples(evaluate);
    const tests: string[] = [];
    while (examples.length > 0) {
      const first = examples.shift()!;
      const mine = [first];
      while (first.setup.length === 0 && examples.length > 0 && rng.chance(0.3)) mine.push(examples.shift()!);
      const outcome = first.example.outcome;
      const output = 'throws' in outcome ? 'an error' : javascriptLiteral(outcome.value);
      const what = phrase(rng, subject.about, first.example.input, output);
      const base = (grouped ? '' : named || rng.chance(0.5) ? `${first.test} ` : '') + what;
      let title = base;
      for (let n = 2; titles.has(`${subject.name}${title}`); n += 1) title = `${base} ${n}`;
      titles.add(`${subject.name}${title}`);
      const lines = mine.flatMap(({ setup, example }) => {
        const { outcome: expected } = example;
        if ('throws' in expected) return [...setup, `assert.throws(() => ${example.call}, ${expected.throws});`];
        const { value } = expected;
        const call =
          typeof value === 'object' && value !== null
            ? `assert.${deep}(${example.call}, ${javascriptLiteral(value)});`
            : `assert.${equal}(${example.call}, ${javascriptLiteral(value)});`;
        return [...setup, call];
      });
      tests.push(
        `${word}('${title.replaceAll("'", '')}', () => {\n${lines.map((line) => `  ${line}`).join('\n')}\n});`,
      );
      total += 1;
    }
    if (tests.length === 0) continue;
    blocks.push(
      grouped
        ? `describe('${subject.name}', () => {\n${tests.join('\n\n').replace(/^(?=.)/gm, '  ')}\n});`
        : tests.join('\n\n'),
    );
  }
  if (total < 3) return null;
  const names = subjects.map((subject) => subject.name).join(', ');
  const runner = grouped ? `describe, ${word}` : word;
  const assertModule = strict ? 'node:assert/strict' : 'node:assert';
  const head = style.commonjs
    ? [
        `const assert = require('${assertModule}');`,
        `const { ${runner} } = require('node:test');`,
        `const { ${names} } = require('${path}');`,
      ]
    : [
        `import assert from '${assertModule}';`,
        `import { ${runner} } from 'node:test';`,
        `import { ${names} } from '${path}';`,
      ];
  return `${head.join('\n')}\n\n${blocks.join('\n\n')}\n`;
}

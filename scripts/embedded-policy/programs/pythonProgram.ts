import { spawnSync } from 'node:child_process';
import { freshName, functionWords, invented, noun, snake } from './names.js';
import { chooseFields, fillTemplate, parseParameters, phrase } from './pieces.js';
import type { Program } from './program.js';
import { PYTHON_FUNCTIONS } from './pythonTemplates.js';
import type { Rng } from './rng.js';
import { pythonLiteral, type Value, valueOf } from './values.js';

interface Draft {
  readonly rng: Rng;
  readonly source: string;
  readonly stem: string;
  readonly functions: readonly { readonly name: string; readonly about: string; readonly inputs: readonly string[] }[];
}

/** Runs every example of every draft in one process. Prints a line of JSON a draft: [literal or error name, ...] per function. */
const EVALUATE = `
import json, sys
for line in sys.stdin:
    draft = json.loads(line)
    space = {}
    exec(draft["source"], space)
    out = []
    for function in draft["functions"]:
        row = []
        for given in function["inputs"]:
            try:
                row.append({"value": repr(eval(function["name"] + "(" + given + ")", space))})
            except Exception as error:
                row.append({"throws": type(error).__name__})
        out.append(row)
    print(json.dumps(out))
`;

const PLACES = [
  { source: 'src/*.py', test: 'tests/test_*.py', path: 'src.' },
  { source: '*.py', test: 'test_*.py', path: '' },
  { source: '*.py', test: 'tests/test_*.py', path: '' },
  { source: 'toolbox/*.py', test: 'tests/test_*.py', path: 'toolbox.' },
  { source: 'lib/*.py', test: 'tests/test_*.py', path: 'lib.' },
  { source: 'app/utils/*.py', test: 'tests/test_*.py', path: 'app.utils.' },
];

/** Modules of Python functions with pytest tests, one for each stream; those of no use are left out. */
export function pythonPrograms(rngs: readonly Rng[], small: boolean): Program[] {
  const drafts = rngs.map((rng) => draftOf(rng, small));
  const input = drafts.map(({ source, functions }) => JSON.stringify({ source, functions })).join('\n') + '\n';
  const run = spawnSync('python3', ['-c', EVALUATE], { input, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (run.status !== 0) throw new Error(`python3 could not run the drafts: ${run.stderr}`);
  const outcomes = run.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { value?: string; throws?: string }[][]);
  return drafts.flatMap((draft, i) => finish(draft, outcomes[i]!));
}

function draftOf(rng: Rng, small: boolean): Draft {
  const fields = chooseFields(rng);
  const taken = new Set<string>();
  const comments = rng.pick([0, 0.5, 1]);
  const functions: { name: string; about: string; inputs: string[] }[] = [];
  const pieces: string[] = [];
  for (let i = rng.pick(small ? [1, 1, 2] : [1, 1, 2, 2, 3, 3, 4]); i > 0; i -= 1) {
    const template = rng.pick(PYTHON_FUNCTIONS);
    const name = freshName(() => snake(functionWords(rng, template.verbs.split(' '))), taken);
    const parameters = parseParameters(template.params);
    const filled = fillTemplate(rng, template.body, parameters, fields, taken, 'snake');
    const comment = rng.chance(comments) ? `    """${template.about}."""\n` : '';
    pieces.push(`def ${name}(${filled.parameters.join(', ')}):\n${comment}${filled.body}`);
    const inputs = Array.from({ length: 10 }, () =>
      parameters.map(({ kind }) => pythonLiteral(valueOf(rng, kind, fields, filled.constants) as Value)).join(', '),
    );
    functions.push({ name, about: template.about, inputs });
  }
  const stem = rng.chance(0.4)
    ? functions[0]!.name
    : `${rng.chance(0.6) ? noun(rng) : invented(rng)}_${rng.pick(['tools', 'helpers', 'rules', 'core', 'utils'])}`;
  return { rng, source: pieces.join('\n\n\n') + '\n', stem, functions };
}

function finish(draft: Draft, outcomes: readonly (readonly { value?: string; throws?: string }[])[]): Program[] {
  const { rng, functions, source } = draft;
  const tests: string[] = [];
  const titles = new Set<string>();
  let usesRaises = false;
  functions.forEach(({ name, about, inputs }, f) => {
    const seen = new Set<string>();
    const wanted = rng.int(2, 4);
    let made = 0;
    inputs.forEach((given, i) => {
      const outcome = outcomes[f]![i]!;
      const literal = outcome.value ?? outcome.throws!;
      if (made >= wanted || literal.length > 90 || seen.has(given)) return;
      if (outcome.throws !== undefined && outcome.throws !== 'ValueError') return;
      if (seen.has(literal) && rng.chance(0.7)) return;
      seen.add(given).add(literal);
      made += 1;
      const words = phrase(rng, about, given, literal)
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '_')
        .replace(/^_+|_+$/g, '');
      let title = `test_${name}_${words}`;
      for (let n = 2; titles.has(title); n += 1) title = `test_${name}_${words}_${n}`;
      titles.add(title);
      if (outcome.throws !== undefined) {
        usesRaises = true;
        tests.push(`def ${title}():\n    with pytest.raises(ValueError):\n        ${name}(${given})`);
      } else {
        const is = /^(True|False|None)$/.test(literal) && rng.chance(0.7) ? 'is' : '==';
        tests.push(`def ${title}():\n    assert ${name}(${given}) ${is} ${literal.replaceAll("'", '"')}`);
      }
    });
  });
  if (tests.length < 3) return [];
  const place = rng.pick(PLACES);
  const head = `${usesRaises ? 'import pytest\n\n' : ''}from ${place.path}${draft.stem} import ${functions.map(({ name }) => name).join(', ')}`;
  return [
    {
      language: 'python',
      modules: 'esm',
      sourcePath: place.source.replace('*', draft.stem),
      source,
      testPath: place.test.replace('*', draft.stem),
      test: `${head}\n\n\n${tests.join('\n\n\n')}\n`,
      names: functions.map(({ name }) => name),
    },
  ];
}

import type { FunctionTemplate } from './javascriptTemplates.js';
import type { Rng } from './rng.js';

/** A function that was never written by anyone: so that a policy learns to read rather than to remember. */
export function randomFunction(rng: Rng): FunctionTemplate {
  const parameters = rng.pick([
    '$num1:pos $num2:pos',
    '$num1:int',
    '$num1:int $num2:int',
    '$list1:ints',
    '$list1:ints $num1:int',
  ]);
  const withList = parameters.includes('$list1');
  const lines: string[] = [];
  const numbers: string[] = [...parameters.matchAll(/\$num\d/g)].map(([name]) => name);
  const atom = (): string =>
    numbers.length > 0 && rng.chance(0.7) ? rng.pick(numbers) : rng.pick(['#a', '#b', '#a2', String(rng.int(0, 9))]);
  const sum = () =>
    `${atom()} ${rng.pick(['+', '-', '*', '+'])} ${rng.chance(0.3) ? `(${atom()} ${rng.pick(['+', '-', '%'])} ${rng.pick(['#a2', '#b'])})` : atom()}`;
  const test = (left = numbers.length > 0 ? rng.pick(numbers) : atom()) => {
    const one = `${left} ${rng.pick(['<', '<=', '>', '>=', '===', '!=='])} ${rng.pick(['#a', '#b', '0', atom()])}`;
    return rng.chance(0.25) ? `${one} ${rng.pick(['&&', '||'])} ${left} % #a2 === ${rng.int(0, 1)}` : one;
  };
  let next = 1;
  const declare = (value: string) => {
    const name = `$value${next++}`;
    lines.push(`  let ${name} = ${value};`);
    numbers.push(name);
    return name;
  };
  const result = withList ? declare(rng.pick(['0', '1', '#a'])) : declare(sum());
  for (let i = rng.int(1, 3); i > 0; i -= 1) {
    const kind = rng.next();
    if (withList && (kind < 0.5 || i === 1)) {
      const item = `$item${next++}`;
      lines.push(`  for (const ${item} of $list1) {`);
      if (rng.chance(0.6))
        lines.push(
          `    if (${test(item)}) ${result} ${rng.pick(['+=', '-='])} ${rng.pick([item, '1', '#a', `${item} * #a2`])};`,
        );
      else
        lines.push(
          `    ${result} += ${item} ${rng.pick(['*', '-', '+', '%'])} ${rng.pick(['#a2', '#b', ...numbers])};`,
        );
      lines.push('  }');
    } else if (kind < 0.3) {
      declare(
        rng.pick([`Math.max(${atom()}, ${atom()})`, `Math.min(${atom()}, ${sum()})`, `Math.abs(${sum()})`, sum()]),
      );
    } else if (kind < 0.6) {
      lines.push(`  if (${test()}) {`, `    ${result} ${rng.pick(['+=', '-=', '*=', '='])} ${sum()};`, '  }');
    } else if (kind < 0.8) {
      lines.push(`  if (${test()}) return ${rng.pick([sum(), atom(), result])};`);
    } else {
      lines.push(`  ${result} = ${test()} ? ${sum()} : ${atom()};`);
    }
  }
  lines.push(
    rng.pick([
      `  return ${result};`,
      `  return ${result} ${rng.pick(['+', '-', '*'])} ${rng.pick(numbers)};`,
      `  return Math.${rng.pick(['max', 'min'])}(${result}, ${atom()});`,
      `  return ${test(result)};`,
    ]),
  );
  return {
    about: rng.pick([
      'A rule of its own',
      'Used by the caller',
      'The house formula',
      'See the tests',
      'An odd calculation',
      'Internal helper',
    ]),
    verbs: '',
    params: parameters,
    returns: 'any',
    body: lines.join('\n'),
  };
}

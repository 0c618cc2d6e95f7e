import { describe, expect, test } from 'vitest';
import { compileChatTemplate } from './chatTemplate.js';

const render = (source: string, renderingMs?: number) =>
  compileChatTemplate(source, { bos_token: '<s>' }, 'here', renderingMs).render([{ role: 'user', content: 'hi' }], [], {
    generationPrompt: true,
  });

describe('a template of a stranger', () => {
  test('that loops for ever is ended, with the place named', () => {
    const nested = '{% for i in range(90000) %}{% for j in range(90000) %}{% endfor %}{% endfor %}';
    expect(() => render(nested, 200)).toThrow(/chat template in 'here' .*: it takes more than 0\.2 s\./);
  });

  test('cannot fill the memory with a range', () => {
    expect(() => render('{% for i in range(1000000000) %}{% endfor %}')).toThrow(
      /range gives more than 100000 numbers/,
    );
    expect(() => render('{% for i in range(0, 5, 0) %}{% endfor %}')).toThrow(/range/);
  });

  test('cannot fill the memory with a list or a text that doubles, nor with the scopes of nested loops', () => {
    const doubling = (start: string) =>
      `{% set ns = namespace(x=${start}) %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}`;
    expect(() => render(doubling('[1]'))).toThrow(/a list has more than 100000 items/);
    expect(() => render(doubling("'x'"))).toThrow(/a text has more than 16777216 characters/);
    const nested = '{% for i in range(100000) %}'.repeat(60) + '{% endfor %}'.repeat(60);
    expect(() => render(nested, 60_000)).toThrow(/takes more than 256 MiB of memory/);
  });

  test('finds the words of Python too', () => {
    expect(render('{% if True and not False and None is none %}yes{% endif %}')).toBe('yes');
  });

  test('counts as Jinja does', () => {
    expect(render('{% for i in range(3) %}{{ i }}{% endfor %}')).toBe('012');
    expect(render('{% for i in range(1, 8, 3) %}{{ i }}{% endfor %}')).toBe('147');
    expect(render('{% for i in range(3, 0, -1) %}{{ i }}{% endfor %}')).toBe('321');
    expect(render('{% for i in range(3, 1) %}{{ i }}{% endfor %}{{ bos_token }}')).toBe('<s>');
  });
});

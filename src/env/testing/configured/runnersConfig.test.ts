import { afterAll, describe, expect, it } from 'vitest';
import { TemporaryFolders, writeFiles } from '../../fixtureRepository.testing.js';
import { parseRunners, readRunners } from './runnersConfig.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

const bats = {
  name: 'bats',
  command: ['bats', '--tap', '{file}'],
  testFiles: ['test/**/*.bats'],
  results: { format: 'tap', stdout: true },
};

describe('runners of the configuration', () => {
  it('have defaults', () => {
    expect(parseRunners([bats])).toEqual([{ ...bats, root: '.', configuration: [], timeoutSeconds: 300, env: {} }]);
  });

  it.each<[string, object, RegExp]>([
    ['a missing key', { ...bats, command: undefined }, /`runners\[0\]\.command`: .*expected array/],
    ['an empty command', { ...bats, command: [] }, /`runners\[0\]\.command`: .* The command, a word an item/],
    [
      'an unknown key',
      { ...bats, comand: [] },
      /`runners\[0\]\.comand`: there is no such key\. A runner has the keys name, /,
    ],
    ['results without a place', { ...bats, results: { format: 'tap' } }, /`runners\[0\]\.results`: must say either/],
    ['another format', { ...bats, results: { format: 'xml', stdout: true } }, /`runners\[0\]\.results\.format`: /],
    ['an absolute path', { ...bats, testFiles: ['/etc/*'] }, /`runners\[0\]\.testFiles\[0\]`: must be relative/],
    ['a root outside', { ...bats, root: 'a/../..' }, /`runners\[0\]\.root`: must lie in the repository/],
    [
      'results outside',
      { ...bats, root: 'a', results: { format: 'junit', path: '../../x.xml' } },
      /`runners\[0\]\.results\.path`: must lie in the repository/,
    ],
    ['a joint without files', { ...bats, selectTests: { joinedBy: ',' } }, /`runners\[0\]\.selectTests`: needs a word/],
    ['a variable that is none', { ...bats, env: { 'A B': 'c' } }, /`runners\[0\]\.env/],
    ['no list', {}, /expected array/],
  ])('are refused in one line for %s', (name, runner, line) => {
    const parse = () => parseRunners(name === 'no list' ? runner : [runner]);
    expect(parse).toThrow(expect.objectContaining({ kind: 'bad-input', line: expect.stringMatching(line) as string }));
    expect(parse).toThrow(expect.objectContaining({ line: expect.not.stringContaining('\n') as string }));
  });

  it('are refused where two have the same name', () => {
    expect(() => parseRunners([bats, bats])).toThrow(/`runners`: two runners have the same name/);
  });

  it('are read from the file in the root, among other settings', async () => {
    const read = async (text?: string) => {
      const tree = await temporary.folder();
      if (text !== undefined) await writeFiles(tree, { 'whetstone.config.json': text });
      return readRunners(tree);
    };
    expect(await read()).toEqual([]);
    expect(await read('{"steps": 3}')).toEqual([]);
    expect(await read(JSON.stringify({ steps: 3, runners: [bats] }))).toHaveLength(1);
    await expect(read('{')).rejects.toThrow('whetstone.config.json is not JSON.');
  });
});

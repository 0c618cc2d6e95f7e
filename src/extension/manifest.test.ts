import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Command, ContextKey, settingNames, View } from './contributions.js';

interface MenuItem {
  readonly command: string;
  readonly when?: string;
  readonly group?: string;
}
interface Setting {
  readonly enum?: readonly string[];
  readonly enumDescriptions?: readonly string[];
  readonly description?: string;
  readonly markdownDescription?: string;
}
interface Manifest {
  readonly contributes: {
    readonly commands: readonly { command: string; title: string; category: string; icon?: string }[];
    readonly menus: Readonly<Record<string, readonly MenuItem[]>>;
    readonly views: Readonly<Record<string, readonly { id: string; name: string; contextualTitle: string }[]>>;
    readonly viewsWelcome: readonly { view: string; when?: string; contents: string }[];
    readonly configuration: { readonly properties: Readonly<Record<string, Setting>> };
    readonly colors: readonly { id: string; description: string; defaults: Readonly<Record<string, string>> }[];
  };
}

const readJson = <T>(file: string) => JSON.parse(readFileSync(file, 'utf8')) as T;
const { contributes } = readJson<Manifest>('package.json');
const { commandPalette, ...otherMenus } = contributes.menus;
const menuItems = Object.entries(otherMenus).flatMap(([menu, items]) => items.map((item) => ({ menu, ...item })));
const english = readJson<Record<string, string>>('package.nls.json');
const chinese = readJson<Record<string, string>>('package.nls.zh-cn.json');

/** The texts behind `%key%`, in both languages. */
function texts(reference: string | undefined): readonly [string, string] {
  const key = /^%(.+)%$/.exec(reference ?? '')?.[1] ?? '';
  return [english[key] ?? '', chinese[key] ?? ''];
}
const hasBoth = (reference: string | undefined) => {
  const [en, zh] = texts(reference);
  return /[a-z]/i.test(en) && /[\u4e00-\u9fff]/.test(zh);
};

/** What the editor knows by itself and our conditions go by. */
const editorKeys = [
  ...['workspaceFolderCount', 'isWorkspaceTrusted', 'inDebugMode', 'debugType', 'view', 'viewItem'],
  ...['resourceScheme', 'resourceFilename', 'false'],
];

/** The keys that a condition asks for, without what they are compared with. */
const keysOf = (when: string) =>
  when
    .split(/&&|\|\|/)
    .map((part) => part.replace(/^[\s!(]+/, ''))
    .map((part) => /^[\w.]+/.exec(part)?.[0] ?? part);

/** Whether a condition of `&&`, `!`, `==` and `!=` holds where the keys have these values. */
function holds(when: string, keys: Readonly<Record<string, unknown>>): boolean {
  return when.split('&&').every((part) => {
    const [, negated, key, operator, value] = /^\s*(!?)([\w.]+)\s*(==|!=)?\s*(\S*)\s*$/.exec(part) ?? [];
    const is = operator ? String(keys[key]) === value : Boolean(keys[key]);
    return (negated === '!') !== (operator === '!=') ? !is : is;
  });
}

/** `contextValue`s that the trees give their items. */
const contextValues = readdirSync('src/extension', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .flatMap((file) => [...readFileSync(path.join('src/extension', file), 'utf8').matchAll(/contextValue =([^;]*);/g)])
  .flatMap(([, value]) => [...value.matchAll(/['`]([\w.${}]+)['`]/g)].map(([, text]) => text))
  .flatMap((text) =>
    text === 'run.${status}'
      ? ['running', 'paused', 'completed', 'stopped', 'failed', 'interrupted'].map((status) => `run.${status}`)
      : text,
  );

describe('the manifest', () => {
  it.each(contributes.commands)('gives $command a title in both languages, a category and an icon', (one) => {
    expect(hasBoth(one.title)).toBe(true);
    expect([one.category, one.icon]).toEqual(['Whetstone', expect.stringMatching(/^\$\([\w-]+\)$/)]);
  });

  it('has a condition of the palette for every command, and a place in a menu for those that it hides', () => {
    expect(commandPalette.map(({ command }) => command).sort()).toEqual(Object.values(Command).sort());
    for (const { command, when } of commandPalette) {
      expect(when, command).toBeTruthy();
      if (when === 'false') expect(menuItems.map((item) => item.command)).toContain(command);
    }
  });

  it('names only commands, views, kinds of items and keys that there are', () => {
    const commands = new Set<string>(Object.values(Command));
    const keys = new Set<string>([...Object.values(ContextKey), ...editorKeys]);
    const views = new Set<string>(Object.values(View));
    for (const { command, when = '' } of [...commandPalette, ...menuItems]) {
      expect(commands, command).toContain(command);
      for (const key of keysOf(when)) expect(keys, `${command}: ${when}`).toContain(key);
      for (const [, view] of when.matchAll(/\bview == ([\w.]+)/g)) expect(views, command).toContain(view);
      for (const [, kind] of when.matchAll(/\bviewItem == ([\w.]+)/g)) expect(contextValues, command).toContain(kind);
      for (const [, pattern] of when.matchAll(/\bviewItem =~ \/(.+?)\/(?=\s|\)|$)/g)) {
        const kinds = contextValues.filter((value) => new RegExp(pattern).test(value));
        expect(kinds, `${command}: ${pattern}`).not.toEqual([]);
      }
    }
  });

  it('asks for trust in every menu where the palette asks for it', () => {
    const trusting = commandPalette.filter(({ when }) => when?.includes('isWorkspaceTrusted'));
    const needsTrust = new Set(trusting.map(({ command }) => command));
    const careless = menuItems.filter(
      ({ command, when = '' }) => needsTrust.has(command) && !/(^|[^!])isWorkspaceTrusted/.test(when),
    );
    expect(careless).toEqual([]);
  });

  it('shows nothing twice in a menu under the same conditions', () => {
    const places = menuItems.map(({ menu, command, when, group }) => [menu, command, when, group].join(' | '));
    expect(places.filter((place, at) => places.indexOf(place) !== at)).toEqual([]);
  });

  it('names its views in both languages', () => {
    const views = Object.values(contributes.views).flat();
    expect(views.map(({ id }) => id).sort()).toEqual(Object.values(View).sort());
    for (const { id, name, contextualTitle } of views) {
      expect(hasBoth(name), id).toBe(true);
      expect(contextualTitle === 'Whetstone' || hasBoth(contextualTitle), id).toBe(true);
    }
  });

  const states = [0, 1].flatMap((workspaceFolderCount) =>
    [true, false].map((isWorkspaceTrusted) => ({ workspaceFolderCount, isWorkspaceTrusted })),
  );
  it.each(Object.values(View))('welcomes in an empty %s with one text, whatever is open and trusted', (view) => {
    for (const state of states) {
      const shown = contributes.viewsWelcome.filter(
        (one) => one.view === view && (one.when === undefined || holds(one.when, state)),
      );
      expect(
        shown.map(({ contents }) => hasBoth(contents)),
        JSON.stringify(state),
      ).toEqual([true]);
    }
  });

  it('offers in its welcomes only commands that can run then', () => {
    for (const { view, when = '', contents } of contributes.viewsWelcome) {
      for (const [, command] of texts(contents)[0].matchAll(/\(command:(whetstone\.\w+)\)/g)) {
        const wanted = commandPalette.find((item) => item.command === command)?.when ?? '';
        const possible = states.filter((state) => when === '' || holds(when, state));
        for (const state of possible) expect(holds(wanted, state), `${view}: ${command}`).toBe(true);
      }
    }
  });

  it.each(Object.entries(contributes.configuration.properties))(
    'describes the setting %s in both languages, and each of its values',
    (_, { description, markdownDescription, enum: values = [], enumDescriptions = [] }) => {
      expect(hasBoth(description ?? markdownDescription)).toBe(true);
      expect(enumDescriptions.length).toBe(values.length);
      expect(enumDescriptions.filter((reference) => !hasBoth(reference))).toEqual([]);
    },
  );

  it('knows the settings that the code reads', () => {
    const known = Object.keys(contributes.configuration.properties);
    expect(known.sort()).toEqual([...settingNames, 'tokenColours'].map((name) => `whetstone.${name}`).sort());
  });

  it.each(contributes.colors)('describes the colour $id in both languages, for every kind of theme', (colour) => {
    expect(hasBoth(colour.description)).toBe(true);
    expect(Object.keys(colour.defaults).sort()).toEqual(['dark', 'highContrast', 'highContrastLight', 'light']);
  });
});

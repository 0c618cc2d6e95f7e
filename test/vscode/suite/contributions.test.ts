import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import * as vscode from 'vscode';
import { Colour, Command, settingNames, View } from '../../../src/extension/contributions.js';

const extension = () => {
  const found = vscode.extensions.getExtension('whetstone.whetstone');
  assert.ok(found, 'the extension is installed');
  return found;
};

interface Contributes {
  readonly commands: readonly { readonly command: string; readonly category: string }[];
  readonly views: Readonly<Record<string, readonly { readonly id: string }[]>>;
  readonly configuration: { readonly properties: Readonly<Record<string, unknown>> };
  readonly colors: readonly { readonly id: string }[];
  readonly menus: Readonly<Record<string, readonly { readonly command: string; readonly when: string }[]>>;
}
const contributes = () => (extension().packageJSON as { contributes: Contributes }).contributes;

describe('The extension', () => {
  it('sleeps until it is used', () => assert.equal(extension().isActive, false));
});

describe('What package.json contributes', () => {
  it('names the commands, views, settings and colours that the code names, and no others', () => {
    const { commands, views, configuration, colors } = contributes();
    assert.deepEqual(commands.map((item) => item.command).sort(), Object.values(Command).sort());
    assert.deepEqual(
      Object.values(views)
        .flatMap((group) => group.map((view) => view.id))
        .sort(),
      Object.values(View).sort(),
    );
    assert.deepEqual(
      Object.keys(configuration.properties).sort(),
      [...settingNames, 'tokenColours'].map((name) => `whetstone.${name}`).sort(),
    );
    assert.deepEqual(colors.map((colour) => colour.id).sort(), Object.values(Colour).sort());
  });

  it('shows every command in the palette only where it can do something', () => {
    const gated = contributes().menus.commandPalette.map((item) => item.command);
    assert.deepEqual(gated.sort(), Object.values(Command).sort());
  });

  it('registers every command once activated', async () => {
    await extension().activate();
    const registered = new Set(await vscode.commands.getCommands(true));
    assert.deepEqual(
      Object.values(Command).filter((command) => !registered.has(command)),
      [],
    );
  });
});

import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { chosenSettings } from '../../../src/extension/training/chosenSettings.js';
import { settingsSchema } from '../../../src/trainer/run/settings.js';
import { settingNames } from '../../../src/extension/contributions.js';
import { eventually, repoRoot } from './support.js';

describe('The settings', () => {
  const folder = () => join(repoRoot(), '.vscode');
  after(() => rm(folder(), { recursive: true, force: true }));

  it('override nothing where the user set nothing', () => {
    assert.deepEqual(chosenSettings(vscode.Uri.file(repoRoot())), {});
  });

  it("have the engine's own defaults", () => {
    const defaults = settingsSchema.parse({});
    const configuration = vscode.workspace.getConfiguration('whetstone');
    for (const name of settingNames) {
      const shown = configuration.inspect(name)?.defaultValue;
      // A text without a default is empty in the editor, and what an object leaves out the engine fills in.
      const meant = isObject(shown) ? settingsSchema.parse({ [name]: shown })[name] : shown === '' ? undefined : shown;
      assert.deepEqual(meant, defaults[name], name);
    }
  });

  it('of a repository count, but it cannot choose for itself to run unconfined', async () => {
    await mkdir(folder(), { recursive: true });
    const settings = { 'whetstone.steps': 7, 'whetstone.sandbox': 'unconfined' };
    await writeFile(join(folder(), 'settings.json'), JSON.stringify(settings));
    await eventually(() => assert.deepEqual(chosenSettings(vscode.Uri.file(repoRoot())), { steps: 7 }));
  });
});

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

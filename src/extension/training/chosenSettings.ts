import * as vscode from 'vscode';
import type { SettingsInput } from '../../trainer/run/settings.js';
import { settingNames, settingsSection } from '../contributions.js';

/**
 * What the user set in the editor; what was left at its default, or a text that was emptied again, does not override
 * `whetstone.config.json`.
 */
export function chosenSettings(scope: vscode.Uri): SettingsInput {
  const configuration = vscode.workspace.getConfiguration(settingsSection, scope);
  const chosen = settingNames.map((name) => {
    const set = configuration.inspect(name);
    return [name, set?.workspaceFolderValue ?? set?.workspaceValue ?? set?.globalValue] as const;
  });
  return Object.fromEntries(chosen.filter(([, value]) => value !== undefined && value !== '')) as SettingsInput;
}

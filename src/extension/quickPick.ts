import * as vscode from 'vscode';
import { plainLabel, plainLine } from './plainText.js';

type Options = Omit<vscode.QuickPickOptions, 'canPickMany' | 'onDidSelectItem'>;

/** The user's choice; undefined where they left without one. The items' texts may come from anywhere: an icon goes into `iconPath`. */
export async function pickOne<T extends vscode.QuickPickItem>(
  items: readonly T[],
  options: Options,
): Promise<T | undefined> {
  return (await vscode.window.showQuickPick(items.map(plain), plainOptions(options)))?.item;
}

/** The user's choices; undefined where they left without an answer. */
export async function pickMany<T extends vscode.QuickPickItem>(
  items: readonly T[],
  options: Options,
): Promise<readonly T[] | undefined> {
  const picked = await vscode.window.showQuickPick(items.map(plain), { ...plainOptions(options), canPickMany: true });
  return picked?.map(({ item }) => item);
}

function plain<T extends vscode.QuickPickItem>(item: T): vscode.QuickPickItem & { readonly item: T } {
  const { label, description, detail, kind, iconPath, picked } = item;
  return {
    label: plainLabel(label),
    description: description && plainLabel(description),
    detail: detail && plainLabel(detail),
    ...{ kind, iconPath, picked, item },
  };
}

const plainOptions = ({ title, placeHolder, ...rest }: Options): Options => ({
  ...rest,
  title: title && plainLine(title),
  placeHolder: placeHolder && plainLine(placeHolder),
});

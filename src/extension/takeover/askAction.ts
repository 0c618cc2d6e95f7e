import * as vscode from 'vscode';
import { Lifetime } from '../lifetime.js';
import { pickOne } from '../quickPick.js';
import { t } from '../translate.js';
import type { LongTexts } from './longText.js';
import type { PersonTool } from './personEpisode.js';
import { fieldsOf, readField, type ToolField } from './toolFields.js';

/** What a person wants to do in their turn. */
export interface Action {
  readonly tool: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly thought: string;
}

/** Asks for a tool and its arguments; undefined where the user left the list of tools without an answer. */
export async function askAction(
  tools: readonly PersonTool[],
  turn: number,
  longTexts: LongTexts,
): Promise<Action | undefined> {
  let thought = '';
  for (;;) {
    const iconPath = new vscode.ThemeIcon('comment');
    const think = { label: t('Say What You Think First…'), description: thought, iconPath, tool: undefined };
    const items = tools.map((tool) => ({ label: tool.name, description: tool.description, tool }));
    const picked = await pickOne([...items, think], {
      title: t('Turn {0}: call a tool', turn),
      placeHolder: t('Leave with Escape to give the episode up'),
      matchOnDescription: true,
      ignoreFocusOut: true,
    });
    if (!picked) return undefined;
    const { tool } = picked;
    if (!tool) {
      const field = { name: t('What you think'), type: 'string', isRequired: false } as const;
      const said = await askText(picked.label, field, thought, longTexts);
      thought = said ?? thought;
      continue;
    }
    const parameters = await askArguments(tool, longTexts);
    if (parameters) return { tool: tool.name, parameters, thought };
  }
}

/** Undefined where the user went back. */
async function askArguments(tool: PersonTool, longTexts: LongTexts): Promise<Record<string, unknown> | undefined> {
  const parameters: Record<string, unknown> = {};
  const fields = fieldsOf(tool);
  for (const [index, field] of fields.entries()) {
    const title = `${tool.name} · ${field.name} (${index + 1}/${fields.length})`;
    const text = await askText(title, field, '', longTexts);
    if (text === undefined) return undefined;
    const read = readField(field, text);
    if ('value' in read && read.value !== undefined) parameters[field.name] = read.value;
  }
  return parameters;
}

async function askText(
  title: string,
  field: ToolField,
  value: string,
  longTexts: LongTexts,
): Promise<string | undefined> {
  const answer = await askLine(title, field, value);
  if (answer === undefined || 'text' in answer) return answer?.text;
  return longTexts.write(answer.inEditor);
}

/** One line; or the wish to write several, with what stands there so far. */
function askLine(
  title: string,
  field: ToolField,
  value: string,
): Promise<{ readonly text: string } | { readonly inEditor: string } | undefined> {
  const own = new Lifetime('argument');
  const box = own.add(vscode.window.createInputBox());
  box.title = title;
  box.value = value;
  box.ignoreFocusOut = true;
  box.placeholder = field.isRequired ? '' : t('It may stay empty');
  if (field.type === 'list') box.prompt = t('Several with commas between them');
  const inEditor = { iconPath: new vscode.ThemeIcon('edit'), tooltip: t('Write Several Lines in an Editor') };
  if (field.type === 'string') box.buttons = [inEditor];
  return new Promise<{ text: string } | { inEditor: string } | undefined>((resolve) => {
    own.add(box.onDidChangeValue(() => (box.validationMessage = undefined)));
    own.add(
      box.onDidAccept(() => {
        const read = readField(field, box.value);
        if ('problem' in read) box.validationMessage = read.problem;
        else resolve({ text: box.value });
      }),
    );
    own.add(box.onDidTriggerButton(() => resolve({ inEditor: box.value })));
    own.add(box.onDidHide(() => resolve(undefined)));
    box.show();
  }).finally(() => own.dispose());
}

import * as vscode from 'vscode';
import { badInput, WhetstoneError } from '../../trajectory/errors.js';
import type { Context } from '../context.js';
import { pickOne } from '../quickPick.js';
import { t } from '../translate.js';
import { editorModel } from './editorModel.js';

/** Who plays, for the command line: arguments, and variables that no other process sees. */
export interface CliPlayer {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The model of that id, or the user's choice among all that extensions offer; undefined where the user chose none. Throws bad-input
 * where there is none, or where it is known to call no tools.
 */
export async function pickLanguageModel(id?: string): Promise<vscode.LanguageModelChat | undefined> {
  const models = await vscode.lm.selectChatModels(id === undefined ? {} : { id });
  if (models.length === 0) {
    throw badInput(
      t('The editor offers no language model.'),
      t('Install an extension that brings one, such as GitHub Copilot Chat, and sign in.'),
    );
  }
  const items = models.map((model) => ({
    label: model.name,
    description: `${model.vendor} · ${model.family}`,
    detail: callsTools(model) ? t('{0} tokens of context', model.maxInputTokens) : t('Calls no tools'),
    model,
  }));
  const options = { title: t('Language Model That Plays'), matchOnDescription: true };
  const model = id === undefined ? (await pickOne(items, options))?.model : models[0];
  if (model === undefined || callsTools(model)) return model;
  throw badInput(t('{0} calls no tools, which is how tasks are played.', model.name), t('Choose another model.'));
}

/** Editors older than the property do not say: then it is found out. */
function callsTools(model: vscode.LanguageModelChat): boolean {
  const { capabilities } = model as { capabilities?: { readonly supportsToolCalling?: unknown } };
  return capabilities?.supportsToolCalling !== false;
}

/**
 * Lends a model of the editor's to a command of the command line: it is served on an address of this machine for as long as the
 * command runs. Where the model would answer no more, that is what is thrown.
 */
export async function withLentModel<T>(
  { lifetime }: Pick<Context, 'lifetime'>,
  model: vscode.LanguageModelChat,
  work: (player: CliPlayer) => Promise<T>,
): Promise<T> {
  const { openModelEndpoint } = await import('../engine.js');
  const endpoint = await openModelEndpoint(editorModel(vscode, model));
  const own = lifetime.child(`${model.id} as a policy`);
  own.add({ dispose: () => void endpoint.close() });
  try {
    return await work({
      args: ['--policy', `openai:${endpoint.url}`, '--policy-model', model.id],
      env: { OPENAI_API_KEY: endpoint.token },
    });
  } catch (error) {
    const isCancelled = error instanceof WhetstoneError && error.kind === 'cancelled';
    throw isCancelled ? error : (endpoint.problem ?? error);
  } finally {
    own.dispose();
  }
}

import type { Said } from '../trajectory/said.js';

/** The extension's two bundles (esbuild.mjs) have a copy of this module each, and one language. */
const shared: { [key: symbol]: Readonly<Record<string, string>> | undefined } = globalThis;
const key = Symbol.for('whetstone.translations');

/** Texts in the editor's language, by the English ones: `vscode.l10n.bundle`. */
export function useTranslations(bundle: Readonly<Record<string, string>>): void {
  shared[key] = bundle;
}

/**
 * A text for the user in the editor's language, English where there is no translation; `{0}`, `{1}` stand for the values. It
 * is vscode.l10n's `t` for modules that know no editor. A test looks for a translation of every text in the sources.
 */
export function t(text: string, ...values: readonly (string | number)[]): string {
  return translated(text, values);
}

/** What the engine says, in the editor's language; as it stands where the words are not the engine's own. */
export const ofEngine = ({ message, phrase = { template: message, values: [] } }: Said): string =>
  translated(
    phrase.template,
    phrase.values.map((value) => (typeof value === 'object' ? ofEngine(value) : value)),
  );

const translated = (text: string, values: readonly (string | number)[]): string =>
  (shared[key]?.[text] ?? text).replace(/\{(\d+)\}/g, (whole, at: string) => String(values[Number(at)] ?? whole));

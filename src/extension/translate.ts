let translations: Readonly<Record<string, string>> = {};

/** Texts in the editor's language, by the English ones: `vscode.l10n.bundle`. */
export function useTranslations(bundle: Readonly<Record<string, string>>): void {
  translations = bundle;
}

/**
 * A text for the user in the editor's language, English where there is no translation; `{0}`, `{1}` stand for the values. It
 * is vscode.l10n's `t` for modules that know no editor. A test looks for a translation of every text in the sources.
 */
export function t(text: string, ...values: readonly (string | number)[]): string {
  return (translations[text] ?? text).replace(/\{(\d+)\}/g, (whole, at: string) => String(values[Number(at)] ?? whole));
}

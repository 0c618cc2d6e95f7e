/** From every page of ours to the extension, before all else: it wants its texts. */
export interface Translate {
  readonly type: 'translate';
}

/** The answer: texts in the editor's language, by the English ones. */
export interface Translations {
  readonly type: 'translations';
  readonly texts: Readonly<Record<string, string>>;
}

export const isTranslate = (message: unknown): message is Translate =>
  typeof message === 'object' && message !== null && 'type' in message && message.type === 'translate';

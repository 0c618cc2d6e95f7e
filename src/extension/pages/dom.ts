/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { visibleText } from '../trajectory/visibleText.js';
import { useTranslations } from '../translate.js';
import { shortText } from './shortText.js';
import type { Translate, Translations } from './translations.js';

interface VsCodeApi<State> {
  postMessage(message: unknown): void;
  getState(): State | undefined;
  setState(state: State): void;
}
declare function acquireVsCodeApi<State>(): VsCodeApi<State>;

/** The editor gives it once. */
let acquired: VsCodeApi<unknown> | undefined;
function vsCode<State>(): VsCodeApi<State> {
  acquired ??= acquireVsCodeApi<unknown>();
  return acquired as VsCodeApi<State>;
}

/** Loads the page once its texts are there in the editor's language: the extension sends them, the page holds none. */
export function startPage(load: () => Promise<unknown>): void {
  const receive = ({ data }: MessageEvent<Translations>) => {
    if (data.type !== 'translations') return;
    window.removeEventListener('message', receive);
    useTranslations(data.texts);
    void load();
  };
  window.addEventListener('message', receive);
  vsCode().postMessage({ type: 'translate' } satisfies Translate);
}

/** The page's end of the line to the extension, and what it remembers while it is hidden. Called once. */
export function connect<To, From, State>(
  receive: (message: To) => void,
): { post(message: From): void; state: State | undefined; remember(state: State): void } {
  const api = vsCode<State>();
  // Only the extension posts to this window: the policy of the page lets no other frame or script in.
  window.addEventListener('message', ({ data }: MessageEvent<To>) => receive(data));
  return {
    post: (message) => api.postMessage(message),
    state: api.getState(),
    remember: (state) => api.setState(state),
  };
}

type Child = Node | string | undefined;
interface Properties {
  readonly class?: string;
  readonly title?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly onClick?: () => void;
}

/** An element; whatever text it is given stays text, and what would not be seen of it, or would turn its direction, is shown. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  if (properties.class) made.className = properties.class;
  if (properties.title) made.title = visibleText(properties.title);
  for (const [name, value] of Object.entries(properties.attributes ?? {})) made.setAttribute(name, value);
  if (properties.onClick) made.addEventListener('click', properties.onClick);
  for (const child of children) {
    if (child !== undefined) made.append(typeof child === 'string' ? visibleText(child) : child);
  }
  return made;
}

/** Text of unknown length: a long one is cut, and hovering over it shows more. */
export function brief(given: string): Child {
  const { text, title } = shortText(given);
  return title === undefined ? text : element('span', { title }, text);
}

/** The place that pages put themselves into. */
export function root(): HTMLElement {
  const found = document.getElementById('root');
  if (!found) throw new Error('internal: the page has no root');
  return found;
}

/** A colour of the theme. */
export const colour = (name: string, otherwise: string) =>
  getComputedStyle(document.body)
    .getPropertyValue(`--vscode-${name.replaceAll('.', '-')}`)
    .trim() || otherwise;

/** Calls back when the user changes the theme. */
export function onThemeChanged(changed: () => void): void {
  new MutationObserver(changed).observe(document.body, { attributes: true, attributeFilter: ['class'] });
}

/** What a page needs of its webview. */
export interface PageParts {
  readonly title: string;
  /** Of the editor, as BCP 47 has it. */
  readonly language: string;
  readonly script: string;
  readonly style: string;
  /** The source that the webview's own files come from. */
  readonly source: string;
}

/**
 * The document of a webview. It holds no data: all of it comes by message and is set as text. Nothing but the extension's
 * own script and style is loaded, from nowhere else, and nothing inline runs.
 */
export function pageHtml({ title, language, script, style, source }: PageParts): string {
  const policy = [`default-src 'none'`, `script-src ${source}`, `style-src ${source}`].join('; ');
  return `<!DOCTYPE html>
<html lang="${escape(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escape(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<link rel="stylesheet" href="${escape(style)}">
</head>
<body>
<div id="root"></div>
<script src="${escape(script)}"></script>
</body>
</html>
`;
}

const escape = (text: string) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

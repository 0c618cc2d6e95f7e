/**
 * Records the README's demonstration: `npm run demo` plays a real training in a real VS Code and writes media/demo.gif.
 * Needs what the editor's tests need; takes some minutes.
 */
import { bundled, stage } from './bundled.mjs';

const { recordDemo } = await bundled('test/vscode/demo/recordDemo.ts');
await recordDemo({ ...stage, target: 'media/demo.gif' });

/**
 * Scrolls through a trajectory of about 200,000 tokens in a real VS Code and prints the frames a second:
 * node test/vscode/scrolling.mjs [TURNS=360]. Needs what the editor's tests need, and a machine that does nothing else.
 */
import { mkdirSync } from 'node:fs';
import { bundled, stage } from './bundled.mjs';

const { measureScrolling } = await bundled('test/vscode/scrolling/measureScrolling.ts');
mkdirSync('test-artifacts', { recursive: true });
await measureScrolling({ ...stage, turns: Number(process.argv[2] ?? 360) });

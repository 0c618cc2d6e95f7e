import type { GroupNode } from './groupTree.js';

/** From the extension to the page. */
export interface ToTree {
  readonly type: 'tree';
  readonly key: string;
  readonly title: string;
  readonly nodes: readonly GroupNode[];
  /** Rollouts that were left out, since there are too many for a picture. */
  readonly leftOut: number;
}

/** From the page to the extension. */
export type FromTree =
  | { readonly type: 'ready' }
  | { readonly type: 'open'; readonly trajectoryId: string; readonly message: number }
  | { readonly type: 'openFile'; readonly file: string }
  | { readonly type: 'explain'; readonly trajectoryId: string }
  | { readonly type: 'replay'; readonly trajectoryId: string }
  | { readonly type: 'touchedLines' };

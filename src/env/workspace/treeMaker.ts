import path from 'node:path';
import { copyTree } from './copyTree.js';

/** A tree of an episode's own, which began as a template's equal. */
export interface WritableTree {
  /** Where this process finds it. */
  readonly root: string;
  /** Its path for commands, which `enter` (a program and its arguments, put in front of theirs) brings to where it is seen. */
  readonly worktree: string;
  readonly enter: readonly string[];
  /** The folder that holds only what differs from the template, for who looks for changes; null where there is none. */
  readonly differences: string | null;
  /** To be called before its folder is deleted. */
  release(): Promise<void>;
}

/** A way to give each episode a tree. */
export interface TreeMaker {
  /** Makes a tree in `folder`, which exists, is empty and is deleted by the caller. `template` is never written. */
  make(template: string, folder: string): Promise<WritableTree>;
  /** Does a tree still need this template? */
  isInUse(template: string): boolean;
  dispose(): Promise<void>;
}

/** Copies the template: works everywhere, and takes the longer the more files there are. */
export class CopiedTrees implements TreeMaker {
  async make(template: string, folder: string): Promise<WritableTree> {
    const root = path.join(folder, 'tree');
    await copyTree(template, root);
    return { root, worktree: root, enter: [], differences: null, release: () => Promise.resolve() };
  }
  isInUse = () => false;
  dispose = () => Promise.resolve();
}

/** A module with its tests, as if it stood in a small repository. Paths are relative to the root, with `/`. */
export interface Program {
  readonly language: 'javascript' | 'typescript' | 'python';
  /** Module system of JavaScript and TypeScript; Python has one only. */
  readonly modules: 'esm' | 'commonjs';
  readonly sourcePath: string;
  readonly source: string;
  readonly testPath: string;
  readonly test: string;
  /** Names of functions, classes and methods that the tests name. */
  readonly names: readonly string[];
}

/** More ids than this make a command line that some systems refuse; then all of the task's tests are run. */
const mostNamed = 100;

/** A run of tests of a task. */
export interface WantedTests {
  readonly repoRoot: string;
  readonly taskId: string;
  readonly tree: string;
  readonly tests: readonly string[];
  /** Number of the task's tests. */
  readonly all: number;
}

/** Arguments of `whetstone tasks test`; no id can be read as an option. */
export function testArguments({ repoRoot, taskId, tree, tests, all }: WantedTests): readonly string[] {
  const only = tests.length < all && tests.length <= mostNamed ? tests.map((id) => `--only=${id}`) : [];
  return ['tasks', 'test', '--json', '--repo', repoRoot, '--tree', tree, ...only, '--', taskId];
}

/**
 * Tests that do not give the same result each time on the same tree (requirement E8); no task is graded by them. One that
 * wavers where nothing is broken, or under two different bugs, is to blame itself. Under one bug alone, the bug may be: then
 * the test is left out of that task only.
 */
export class Quarantine {
  private readonly certain = new Set<string>();
  private readonly suspected = new Map<string, string>();

  /** Tests that wavered in a tree that should be sound. */
  noteSound(tests: readonly string[]): void {
    for (const test of tests) this.certain.add(test);
  }

  /** Tests that wavered in the broken tree of `bug`, a name for what is broken there. */
  noteBroken(bug: string, tests: readonly string[]): void {
    for (const test of tests) {
      if ((this.suspected.get(test) ?? bug) !== bug) this.certain.add(test);
      this.suspected.set(test, bug);
    }
  }

  has(test: string): boolean {
    return this.certain.has(test);
  }

  /** The tests' names, sorted. */
  get names(): readonly string[] {
    return [...this.certain].sort();
  }
}

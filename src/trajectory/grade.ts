export type TestStatus = 'passed' | 'failed' | 'skipped' | 'missing';

/** One component of a reward. `score` is in the component's own range; the composite is the weighted sum. */
export interface RewardComponent {
  readonly score: number;
  readonly weight: number;
  readonly reason?: string;
}

/** The whole breakdown of a graded episode. Every number is finite. */
export interface Grade {
  /** The composite: sum of score * weight over the components. */
  readonly reward: number;
  /** True where every FAIL_TO_PASS and every PASS_TO_PASS test passes. */
  readonly resolved: boolean;
  /** Share of the task's tests that pass in the graded tree, in [0, 1]. */
  readonly fraction?: number;
  readonly components: Readonly<Record<string, RewardComponent>>;
  /** The task's tests: in the start tree (`before`, known from the task) and in the graded tree (`after`). */
  readonly tests: readonly {
    readonly id: string;
    readonly before: TestStatus;
    readonly after: TestStatus;
    /** Why it failed in the graded tree; absent where it did not, and in records. */
    readonly message?: string;
  }[];
  /** Patch similarity per file; `reason` where the ratio does not come from comparing. */
  readonly files: readonly { readonly path: string; readonly ratio: number; readonly reason?: string }[];
}

import type { TestResult } from '../testing/testRunner.js';

/** Results of one run of the tests. */
export type Run = readonly TestResult[];

export interface Verdict {
  /** Fail (or are missing) in every run of the broken tree and pass in every run of the sound one. */
  readonly failToPass: readonly string[];
  /** Pass in every run of both trees. */
  readonly passToPass: readonly string[];
  /** Do not give the same result in every run of the same tree; they are in neither list. */
  readonly wavering: { readonly sound: readonly string[]; readonly broken: readonly string[] };
}

/** Compares the runs of a broken tree with those of the sound tree. Ids come in the order of the sound tree's first run. */
export function compareRuns(broken: readonly Run[], sound: readonly Run[]): Verdict {
  const brokenStatus = stableStatuses(broken);
  const soundStatus = stableStatuses(sound);
  const ids = [...new Set([...sound, ...broken].flatMap((run) => run.map(({ id }) => id)))];
  const passing = ids.filter((id) => soundStatus.get(id) === 'passed');
  return {
    failToPass: passing.filter((id) => ['failed', undefined].includes(brokenStatus.get(id))),
    passToPass: passing.filter((id) => brokenStatus.get(id) === 'passed'),
    wavering: {
      sound: ids.filter((id) => soundStatus.get(id) === 'flaky'),
      broken: ids.filter((id) => brokenStatus.get(id) === 'flaky'),
    },
  };
}

/** Tests whose results differ between runs of the same tree. */
export function flakyTests(runs: readonly Run[]): string[] {
  return [...stableStatuses(runs)].filter(([, status]) => status === 'flaky').map(([id]) => id);
}

/** The status that a test has in every run; `flaky` where runs differ, be it that one of them lacks the test. */
function stableStatuses(runs: readonly Run[]): Map<string, TestResult['status'] | 'flaky'> {
  const statuses = new Map<string, TestResult['status'] | 'flaky'>();
  for (const [index, run] of runs.entries()) {
    for (const { id, status } of run) {
      const known = statuses.get(id) ?? (index === 0 ? status : 'flaky');
      statuses.set(id, known === status ? status : 'flaky');
    }
    const present = new Set(run.map(({ id }) => id));
    for (const id of statuses.keys()) if (!present.has(id)) statuses.set(id, 'flaky');
  }
  return statuses;
}

/** What a failing test said in the broken tree; a test that is missing there takes the word of its file's failure. */
export function failureOf(id: string, broken: Run, sound: Run): { id: string; message: string } {
  const own = broken.find((result) => result.id === id);
  if (own !== undefined) return { id, message: own.message };
  const file = sound.find((result) => result.id === id)?.file;
  const ofFile = broken.find((result) => result.file === file && result.status === 'failed');
  return { id, message: ofFile?.message ?? 'The test does not run.' };
}

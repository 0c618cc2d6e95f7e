/** What a suite found: one entry a test, with the failure where there was one. */
export interface TestReport {
  readonly results: { readonly name: string; readonly milliseconds: number; readonly failure?: string }[];
}

/** Prints one line a test and returns the counts. */
export function printReport(title: string, report: TestReport): { passed: number; failed: number } {
  console.log(`\n${title}`);
  for (const { name, milliseconds, failure } of report.results) {
    console.log(`  ${failure === undefined ? 'ok  ' : 'FAIL'} ${name} (${milliseconds} ms)`);
    if (failure !== undefined) console.log(failure.replace(/^/gm, '       '));
  }
  const failed = report.results.filter((result) => result.failure !== undefined).length;
  return { passed: report.results.length - failed, failed };
}

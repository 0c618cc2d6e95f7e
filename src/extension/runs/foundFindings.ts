import type { Finding } from '../../trainer/doctor/finding.js';
import type { RunEvent } from '../../trainer/run/runRecord.js';
import { t } from '../translate.js';

/**
 * What the doctor found in a run, the critical first: what it reported while the run trained, and what an examination of
 * the whole record found, which replaces the report of the same failure mode.
 */
export function findingsOf(events: readonly RunEvent[], examined: readonly Finding[] = []): readonly Finding[] {
  const byMode = new Map<Finding['mode'], Finding>();
  for (const event of events) if (event.type === 'finding') byMode.set(event.finding.mode, event.finding);
  for (const finding of examined) byMode.set(finding.mode, finding);
  const found = [...byMode.values()];
  return [...found.filter(isCritical), ...found.filter((finding) => !isCritical(finding))];
}

export const isCritical = ({ severity }: Finding) => severity === 'critical';

/** `2 critical, 1 warning`; empty where nothing was found. */
export function countInWords(findings: readonly Finding[]): string {
  const critical = findings.filter(isCritical).length;
  const warnings = findings.length - critical;
  return [
    critical === 0 ? '' : t('{0} critical', critical),
    warnings === 0 ? '' : warnings === 1 ? t('1 warning') : t('{0} warnings', warnings),
  ]
    .filter(Boolean)
    .join(', ');
}

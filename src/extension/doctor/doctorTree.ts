import type { Finding } from '../../trainer/doctor/finding.js';
import { settingNames, type SettingName } from '../contributions.js';
import { ofEngine, t } from '../translate.js';
import type { RunOf } from '../runs/runTree.js';
import type { TrajectoryAddress } from '../trajectory/trajectoryAddress.js';

/** Nodes of the doctor's view: run > finding > where it was seen, what may be the cause, what to do. */
export type DoctorNode = ExaminedRunNode | FindingNode | EvidenceNode | CauseNode | RemedyNode;

export interface ExaminedRunNode {
  readonly kind: 'examinedRun';
  readonly id: string;
  readonly parent?: undefined;
  readonly run: RunOf;
}
export interface FindingNode {
  readonly kind: 'finding';
  readonly id: string;
  readonly parent: ExaminedRunNode;
  readonly finding: Finding;
}
export interface EvidenceNode {
  readonly kind: 'evidence';
  readonly id: string;
  readonly parent: FindingNode;
  readonly text: string;
}
export interface CauseNode {
  readonly kind: 'cause';
  readonly id: string;
  readonly parent: FindingNode;
  readonly text: string;
}
export interface RemedyNode {
  readonly kind: 'remedy';
  readonly id: string;
  readonly parent: FindingNode;
  readonly text: string;
  /** The editor's settings that the remedy names. */
  readonly settings: readonly SettingName[];
}

/** The newest run, whether or not something is wrong with it, and every other in which something was found. */
export function examinedRuns(runs: readonly RunOf[]): readonly ExaminedRunNode[] {
  // What people demonstrated is no training.
  const newest = runs.find(({ summary }) => summary.steps > 0) ?? runs[0];
  return runs
    .filter((run) => run === newest || run.findings.length > 0)
    .map((run) => {
      const { repository, summary, findings } = run;
      // The editor folds what it knew as a leaf; a run in which something is found is another item, and unfolded.
      const id = JSON.stringify([repository.root, summary.id, findings.length === 0]);
      return { kind: 'examinedRun', id, run };
    });
}

export function findingNodes(parent: ExaminedRunNode): readonly FindingNode[] {
  return parent.run.findings.map((finding) => ({
    kind: 'finding',
    id: `${parent.id}/${finding.mode}`,
    parent,
    finding,
  }));
}

export function detailsOf(parent: FindingNode): readonly DoctorNode[] {
  const { evidence, causes, remedy } = parent.finding;
  const place = placeInWords(evidence);
  return [
    ...(place === '' ? [] : [{ kind: 'evidence' as const, id: `${parent.id}/evidence`, parent, text: place }]),
    ...causes.map((message, index) => {
      const text = ofEngine({ message });
      return { kind: 'cause' as const, id: `${parent.id}/cause ${index}`, parent, text };
    }),
    {
      kind: 'remedy',
      id: `${parent.id}/remedy`,
      parent,
      text: ofEngine({ message: remedy }),
      settings: settingsNamed(remedy),
    },
  ];
}

/** `step 3, trajectory step-000003/task/0, token 17`; empty where the evidence is no single place. */
export function placeInWords({ step, trajectoryId, token }: Finding['evidence']): string {
  return [
    step === null ? '' : t('step {0}', step),
    trajectoryId === null ? '' : t('trajectory {0}', trajectoryId),
    token === null ? '' : t('token {0}', token),
  ]
    .filter(Boolean)
    .join(', ');
}

/** Where the evidence lies; undefined where it is no trajectory. */
export function evidenceAddress({ parent, finding }: FindingNode): TrajectoryAddress | undefined {
  const { trajectoryId } = finding.evidence;
  const { repository, summary } = parent.run;
  return trajectoryId === null ? undefined : { stateFolder: repository.stateFolder, runId: summary.id, trajectoryId };
}

/** Remedies name settings in backticks. */
function settingsNamed(remedy: string): readonly SettingName[] {
  const named = new Set([...remedy.matchAll(/`([\w.]+)`/g)].map(([, name]) => name));
  return settingNames.filter((name) => named.has(name));
}

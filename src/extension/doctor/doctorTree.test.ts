import { afterEach, describe, expect, it } from 'vitest';
import type { Finding } from '../../trainer/doctor/finding.js';
import type { RunEvent } from '../../trainer/run/runRecord.js';
import { countInWords, findingsOf } from '../runs/foundFindings.js';
import type { RunOf } from '../runs/runTree.js';
import { useTranslations } from '../translate.js';
import { detailsOf, evidenceAddress, examinedRuns, findingNodes } from './doctorTree.js';

const finding = (mode: Finding['mode'], severity: Finding['severity'], rest: Partial<Finding> = {}): Finding => ({
  mode,
  severity,
  message: `${mode} was seen`,
  evidence: { step: null, trajectoryId: null, token: null },
  causes: [],
  remedy: 'Lower `learningRate` or `maxGradientNorm`.',
  ...rest,
});
const reported = (step: number, found: Finding): RunEvent => ({ at: '', type: 'finding', step, finding: found });

const run = (id: string, findings: readonly Finding[]): RunOf => ({
  repository: { root: '/repo', name: 'repo', stateFolder: '/repo/.whetstone' },
  summary: { id, folder: '', status: 'running', stage: null, step: 1, steps: 2, createdAt: '', message: '' },
  findings,
});

describe('the findings of a run', () => {
  const warning = finding('loops', 'warning');
  const critical = finding('mask-leak', 'critical');

  it('are those reported while it trained, the critical first', () => {
    expect(findingsOf([reported(1, warning), reported(2, critical)])).toEqual([critical, warning]);
  });

  it('are, after an examination, what that found of the same mode', () => {
    const worse = finding('loops', 'critical');
    const found = findingsOf([reported(1, warning)], [worse, finding('overfitting', 'warning')]);
    expect(found.map(({ mode, severity }) => `${mode} ${severity}`)).toEqual(['loops critical', 'overfitting warning']);
  });

  it('are counted in words', () => {
    expect(countInWords([critical, warning, warning])).toBe('1 critical, 2 warnings');
    expect(countInWords([warning])).toBe('1 warning');
    expect(countInWords([])).toBe('');
  });
});

describe('the tree of the doctor', () => {
  afterEach(() => useTranslations({}));

  it('has the newest run, and others only where something is wrong with them', () => {
    const loops = [finding('loops', 'warning')];
    const shown = examinedRuns([run('new', []), run('healthy', []), run('ill', loops)]);
    expect(shown.map((node) => node.run.summary.id)).toEqual(['new', 'ill']);
  });

  it('shows a run anew once something is found in it, so that it unfolds', () => {
    const [before] = examinedRuns([run('a', [])]);
    const [after] = examinedRuns([run('a', [finding('loops', 'warning')])]);
    expect(after.id).not.toBe(before.id);
  });

  it('leads from a finding to its place, its causes and the settings that its remedy names', () => {
    const evidence = { step: 3, trajectoryId: 'step-000003/a/0', token: 17 };
    const [node] = findingNodes(
      examinedRuns([run('a', [finding('kl-explosion', 'critical', { evidence, causes: ['A cause.'] })])])[0],
    );
    expect(evidenceAddress(node)).toEqual({
      stateFolder: '/repo/.whetstone',
      runId: 'a',
      trajectoryId: 'step-000003/a/0',
    });
    expect(detailsOf(node)).toMatchObject([
      { kind: 'evidence', text: 'step 3, trajectory step-000003/a/0, token 17' },
      { kind: 'cause', text: 'A cause.' },
      { kind: 'remedy', settings: ['learningRate'] },
    ]);
  });

  it('says causes and remedy in the language of the editor, and finds the settings all the same', () => {
    useTranslations({ 'A cause.': '一个原因。', 'Lower `learningRate` or `maxGradientNorm`.': '降低学习率。' });
    const [node] = findingNodes(examinedRuns([run('a', [finding('loops', 'warning', { causes: ['A cause.'] })])])[0]);
    expect(detailsOf(node)).toMatchObject([
      { kind: 'cause', text: '一个原因。' },
      { kind: 'remedy', text: '降低学习率。', settings: ['learningRate'] },
    ]);
  });

  it('has no place where the evidence is no single one', () => {
    const [node] = findingNodes(examinedRuns([run('a', [finding('loops', 'warning')])])[0]);
    expect(evidenceAddress(node)).toBeUndefined();
    expect(detailsOf(node).map(({ kind }) => kind)).toEqual(['remedy']);
  });
});

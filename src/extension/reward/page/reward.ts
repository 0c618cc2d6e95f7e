/// <reference lib="dom" />
import './reward.css';
import { connect, element, root } from '../../pages/dom.js';
import type { FromReward, ToReward } from '../rewardMessages.js';
import type { ComponentRow, FileRow, GradeReport, RewardReport, TestRow } from '../rewardReport.js';

const shownTests = 500;

const { post, remember } = connect<ToReward, FromReward, { key: string }>((message) => {
  if (message.type === 'grading') return setGrading(message.isOn);
  remember({ key: message.key });
  show(message.report);
});
const gradeAgain = element('button', { class: 'primary', onClick: () => post({ type: 'gradeAgain' }) }, 'Grade Again');
const grading = element('span', { class: 'quiet', attributes: { role: 'status' } });
const content = element('div');
root().append(content);
post({ type: 'ready' });

function setGrading(isOn: boolean): void {
  gradeAgain.disabled = isOn;
  grading.textContent = isOn ? 'Grading in a fresh tree…' : '';
}

function show({ title, ended, recorded, again, hasTask }: RewardReport): void {
  const compare = element('button', { onClick: () => post({ type: 'compare' }) }, 'Predicted beside Oracle');
  compare.disabled = !hasTask;
  gradeAgain.disabled = !hasTask;
  content.replaceChildren(
    element('h1', { class: 'wrap' }, title),
    element('p', {}, recorded ? sentence(recorded) : `It was not graded: ${ended}`),
    again ? element('p', {}, `Graded again: ${sentence(again)}`) : element('span'),
    element(
      'p',
      { class: 'actions' },
      compare,
      gradeAgain,
      element('button', { onClick: () => post({ type: 'openTrajectory' }) }, 'Open Trajectory'),
      grading,
    ),
    ...(hasTask
      ? []
      : [element('p', { class: 'quiet' }, 'The run holds no such task: there is nothing to compare with.')]),
    ...(recorded || again ? sections(recorded, again) : []),
  );
}

const sentence = ({ reward, resolved }: GradeReport) =>
  `reward ${reward.toFixed(4)}, ${resolved ? 'every test passes' : 'not every test passes'}`;

function sections(recorded: GradeReport | null, again: GradeReport | null): HTMLElement[] {
  return [
    element('h2', {}, 'Components'),
    componentTable(recorded?.components ?? [], again?.components ?? null),
    element('h2', {}, 'Tests'),
    testTable(recorded?.tests ?? [], again?.tests ?? null),
    element('h2', {}, 'Similarity to the oracle, by file'),
    fileTable((again ?? recorded)?.files ?? []),
  ];
}

function componentTable(rows: readonly ComponentRow[], again: readonly ComponentRow[] | null): HTMLElement {
  const names = [...new Set([...rows, ...(again ?? [])].map(({ name }) => name))];
  const sum = (list: readonly ComponentRow[]) => list.reduce((total, { gave }) => total + gave, 0);
  return table(
    ['Component', '#Score', '#Weight', '#Gave', 'Of', ...(again ? ['#Again'] : []), 'Why'],
    [
      ...names.map((name) => {
        const row = rows.find((one) => one.name === name);
        const second = again?.find((one) => one.name === name);
        const known = (row ?? second)!;
        return [
          name,
          row ? row.score.toFixed(4) : 'none',
          String(known.weight),
          row ? row.gave.toFixed(4) : 'none',
          bar(known),
          ...(again ? [second ? second.gave.toFixed(4) : 'not without the episode'] : []),
          known.reason,
        ];
      }),
      ['Reward', '', '', sum(rows).toFixed(4), '', ...(again ? [sum(again).toFixed(4)] : []), ''],
    ],
  );
}

/** Where what it gave lies between the least and the most that it can give. */
function bar({ name, least, most, gave }: ComponentRow): HTMLElement {
  const meter = element('meter', { attributes: { min: String(least), max: String(most), 'aria-label': name } });
  meter.value = gave;
  return element('span', { class: 'bar' }, least.toFixed(2), meter, most.toFixed(2));
}

function testTable(rows: readonly TestRow[], again: readonly TestRow[] | null): HTMLElement {
  if (rows.length === 0) return element('p', { class: 'quiet' }, 'It is graded by no test.');
  const second = new Map(again?.map(({ id, after }) => [id, after]));
  const made = table(
    ['Test', 'List', 'Before', 'After', ...(again ? ['Again'] : [])],
    rows
      .slice(0, shownTests)
      .map(({ id, list, before, after, isWrong }) => [
        element('span', { class: isWrong ? 'wrong' : '' }, id),
        list,
        status(before),
        status(after),
        ...(again ? [status(second.get(id) ?? 'missing')] : []),
      ]),
  );
  const rest = rows.length - shownTests;
  return rest > 0
    ? element('div', {}, made, element('p', {}, `and ${rest} more, all of which pass or fail as above`))
    : made;
}

const signs = { passed: '✓', failed: '✖', skipped: '⤼', missing: '∅' };
const status = (word: keyof typeof signs) => element('span', { class: word }, `${signs[word]} ${word}`);

function fileTable(files: readonly FileRow[]): HTMLElement {
  if (files.length === 0) return element('p', { class: 'quiet' }, 'Neither side changes a file.');
  return table(
    ['File', '#Similarity', 'Why'],
    files.map(({ path, ratio, reason }) => [path, ratio.toFixed(4), reason || 'how alike the two differences are']),
  );
}

/** A heading with `#` in front is one of numbers. */
function table(headings: readonly string[], rows: readonly (readonly (string | Node)[])[]): HTMLElement {
  const isNumber = headings.map((heading) => heading.startsWith('#'));
  const classOf = (column: number) => (isNumber[column] ? 'number' : 'wrap');
  return element(
    'table',
    {},
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        ...headings.map((text, index) => element('th', { class: classOf(index) }, text.replace('#', ''))),
      ),
    ),
    element(
      'tbody',
      {},
      ...rows.map((row) =>
        element('tr', {}, ...row.map((cell, index) => element('td', { class: classOf(index) }, cell))),
      ),
    ),
  );
}

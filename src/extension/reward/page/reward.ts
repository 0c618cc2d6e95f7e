/// <reference lib="dom" />
import './reward.css';
import { brief, connect, element, root } from '../../pages/dom.js';
import { shortText } from '../../pages/shortText.js';
import type { AlignedFile, AlignedPiece } from '../alignedPieces.js';
import type { FromReward, ToReward } from '../rewardMessages.js';
import { t } from '../../translate.js';
import type { ComponentRow, FileRow, GradeReport, RewardReport, TestRow } from '../rewardReport.js';

const shownTests = 500;

const { post, remember } = connect<ToReward, FromReward, { key: string }>((message) => {
  if (message.type === 'grading') return setGrading(message.isOn);
  if (message.type === 'alignment') return showAlignment(message.file);
  remember({ key: message.key });
  show(message.report);
});
const gradeAgain = element(
  'button',
  { class: 'primary', onClick: () => post({ type: 'gradeAgain' }) },
  t('Grade Again'),
);
const grading = element('span', { class: 'quiet', attributes: { role: 'status' } });
const content = element('div');
const alignment = element('section', { class: 'alignment', attributes: { 'aria-live': 'polite' } });
root().append(content);
post({ type: 'ready' });

function setGrading(isOn: boolean): void {
  gradeAgain.disabled = isOn;
  grading.textContent = isOn ? t('Grading in a fresh tree…') : '';
}

function show({ title, ended, recorded, again, hasTask }: RewardReport): void {
  const compare = element('button', { onClick: () => post({ type: 'compare' }) }, t('Predicted beside Oracle'));
  compare.disabled = !hasTask;
  gradeAgain.disabled = !hasTask;
  content.replaceChildren(
    element('h1', { class: 'wrap' }, brief(title)),
    recorded
      ? element('p', {}, sentence(recorded))
      : element(
          'p',
          { class: 'wrap', title: shortText(ended).title },
          t('It was not graded: {0}', shortText(ended).text),
        ),
    again ? element('p', {}, t('Graded again: {0}', sentence(again))) : element('span'),
    element(
      'p',
      { class: 'actions' },
      compare,
      gradeAgain,
      element('button', { onClick: () => post({ type: 'openTrajectory' }) }, t('Open Trajectory')),
      grading,
    ),
    ...(hasTask
      ? []
      : [element('p', { class: 'quiet' }, t('The run holds no such task: there is nothing to compare with.'))]),
    ...(recorded || again ? sections(recorded, again) : []),
  );
}

const sentence = ({ reward, resolved }: GradeReport) =>
  resolved
    ? t('reward {0}, every test passes', reward.toFixed(4))
    : t('reward {0}, not every test passes', reward.toFixed(4));

function sections(recorded: GradeReport | null, again: GradeReport | null): HTMLElement[] {
  return [
    element('h2', {}, t('Components')),
    componentTable(recorded?.components ?? [], again?.components ?? null),
    element('h2', {}, t('Tests')),
    testTable(recorded?.tests ?? [], again?.tests ?? null),
    element('h2', {}, t('Similarity to the oracle, by file')),
    fileTable((again ?? recorded)?.files ?? []),
    alignment,
  ];
}

function componentTable(rows: readonly ComponentRow[], again: readonly ComponentRow[] | null): HTMLElement {
  const names = [...new Set([...rows, ...(again ?? [])].map(({ name }) => name))];
  const sum = (list: readonly ComponentRow[]) => list.reduce((total, { gave }) => total + gave, 0);
  return table(
    [
      t('Component'),
      `#${t('Score')}`,
      `#${t('Weight')}`,
      `#${t('Gave')}`,
      t('Of'),
      ...(again ? [`#${t('Again')}`] : []),
      t('Why'),
    ],
    [
      ...names.map((name) => {
        const row = rows.find((one) => one.name === name);
        const second = again?.find((one) => one.name === name);
        const known = (row ?? second)!;
        return [
          name,
          row ? row.score.toFixed(4) : t('none'),
          String(known.weight),
          row ? row.gave.toFixed(4) : t('none'),
          bar(known),
          ...(again ? [second ? second.gave.toFixed(4) : t('not without the episode')] : []),
          known.reason,
        ];
      }),
      [t('Reward'), '', '', sum(rows).toFixed(4), '', ...(again ? [sum(again).toFixed(4)] : []), ''],
    ],
  );
}

/** Where what it gave lies between the least and the most that it can give. */
function bar({ name, least, most, gave }: ComponentRow): HTMLElement {
  const meter = element('meter', {
    attributes: { min: String(least), max: String(most), 'aria-label': shortText(name).text },
  });
  meter.value = gave;
  return element('span', { class: 'bar' }, least.toFixed(2), meter, most.toFixed(2));
}

function testTable(rows: readonly TestRow[], again: readonly TestRow[] | null): HTMLElement {
  if (rows.length === 0) return element('p', { class: 'quiet' }, t('It is graded by no test.'));
  const second = new Map(again?.map((row) => [row.id, row]));
  const made = table(
    [t('Test'), t('List'), t('Before'), t('After'), ...(again ? [t('Again')] : [])],
    rows
      .slice(0, shownTests)
      .map(({ id, list, before, after, isWrong }) => [
        testCell(id, isWrong, second.get(id)),
        list,
        status(before),
        status(after),
        ...(again ? [status(second.get(id)?.after ?? 'missing')] : []),
      ]),
  );
  const rest = rows.length - shownTests;
  return rest > 0
    ? element('div', {}, made, element('p', {}, t('and {0} more, all of which pass or fail as above', rest)))
    : made;
}

/** The test's name; where something is known of why it failed, it unfolds to that. */
function testCell(id: string, isWrong: boolean, again: TestRow | undefined): HTMLElement {
  const told = [
    [t('Before'), again?.messageBefore ?? ''],
    [t('After'), again?.message ?? ''],
  ].filter(([, message]) => message !== '');
  const kind = { class: isWrong ? 'wrong' : '' };
  if (told.length === 0) return element('span', kind, brief(id));
  return element(
    'details',
    {},
    element('summary', kind, brief(id)),
    ...told.map(([when, message]) => element('div', {}, element('h3', {}, when), element('pre', {}, message))),
  );
}

const signs = { passed: '✓', failed: '✖', skipped: '⤼', missing: '∅' };
const words: Readonly<Record<keyof typeof signs, () => string>> = {
  passed: () => t('passed'),
  failed: () => t('failed'),
  skipped: () => t('skipped'),
  missing: () => t('missing'),
};
const status = (word: keyof typeof signs) =>
  element('span', {}, element('span', { class: word }, signs[word]), ` ${words[word]()}`);

function fileTable(files: readonly FileRow[]): HTMLElement {
  if (files.length === 0) return element('p', { class: 'quiet' }, t('Neither side changes a file.'));
  return table(
    [t('File'), `#${t('Similarity')}`, t('Why')],
    files.map(({ path, ratio, reason }) => [
      // Where only one side changes it there is nothing to align.
      reason ? path : element('button', { class: 'link', onClick: () => post({ type: 'align', path }) }, brief(path)),
      ratio.toFixed(4),
      reason || t('how alike the two differences are'),
    ]),
  );
}

/** Both sides' changes of a file: what both have is marked and numbered, the rest is underlined. */
function showAlignment({ path, predicted, oracle }: AlignedFile): void {
  const side = (title: string, pieces: readonly AlignedPiece[]) =>
    element(
      'div',
      {},
      element('h3', {}, title),
      element('pre', { attributes: { tabindex: '0', 'aria-label': title } }, ...pieces.map(pieceOf)),
    );
  const common = predicted.filter(({ block }) => block !== null).length;
  alignment.replaceChildren(
    element(
      'h2',
      { class: 'wrap', title: shortText(path).title },
      t('How {0} is aligned: {1} blocks in common', shortText(path).text, common),
    ),
    element('div', { class: 'sides' }, side(t('Predicted'), predicted), side(t('Oracle'), oracle)),
  );
  alignment.scrollIntoView({ block: 'nearest' });
}

function pieceOf({ text, block }: AlignedPiece): HTMLElement {
  if (block === null) return element('span', { class: 'alone' }, text);
  const made = element('span', { class: 'common', title: t('Block {0}', block) }, text);
  made.dataset.block = String(block);
  const light = (isOn: boolean) => () => {
    for (const same of alignment.querySelectorAll(`.common[data-block="${block}"]`)) same.classList.toggle('lit', isOn);
  };
  made.addEventListener('mouseenter', light(true));
  made.addEventListener('mouseleave', light(false));
  return made;
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
        element(
          'tr',
          {},
          ...row.map((cell, index) =>
            element('td', { class: classOf(index) }, typeof cell === 'string' ? brief(cell) : cell),
          ),
        ),
      ),
    ),
  );
}

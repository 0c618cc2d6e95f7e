/// <reference lib="dom" />
import 'uplot/dist/uPlot.min.css';
import './dashboard.css';
import { connect, element, onThemeChanged, root } from '../../pages/dom.js';
import { t } from '../../translate.js';
import type { FromDashboard, RunChoice, ToDashboard } from '../dashboardMessages.js';
import type { Place, RunSeries } from '../runSeries.js';
import { inOrder } from '../smoothing.js';
import { Chart, styleOf, type Line } from './chart.js';

interface State {
  readonly smoothing: number;
  readonly axis: 'steps' | 'minutes';
  readonly more: boolean;
}
/** A chart's title, and what lies behind its points. */
interface Picture {
  readonly title: string;
  readonly kind: 'evaluation' | 'rollout';
}
type Trajectories = Extract<ToDashboard, { type: 'trajectories' }>;

const shownAtOnce = 9;
const stageNames = {
  tasks: t('tasks'),
  'evaluate-before': t('evaluation'),
  'warm-start': t('warm start'),
  train: t('training'),
  'evaluate-after': t('evaluation'),
};

let runs: readonly RunChoice[] = [];
let series: readonly RunSeries[] = [];
const { post, state, remember } = connect<ToDashboard, FromDashboard, State>((message) => {
  if (message.type === 'trajectories') return showTrajectories(message);
  ({ runs, series } = message);
  showRuns();
  draw();
});
let chosen: State = { smoothing: 0, axis: 'steps', more: false, ...state };

const charts = new Map<string, Chart>();
const runList = element('div', { class: 'runs', attributes: { role: 'group', 'aria-label': t('Runs') } });
const slider = element('input', {
  attributes: { type: 'range', min: '0', max: '0.99', step: '0.01', id: 'smoothing' },
});
slider.value = String(chosen.smoothing);
const sliderValue = element('output', { attributes: { for: 'smoothing' } }, slider.value);
slider.addEventListener('input', () => {
  sliderValue.textContent = slider.value;
  choose({ smoothing: Number(slider.value) });
});
const axis = element(
  'select',
  { attributes: { id: 'axis' } },
  element('option', { attributes: { value: 'steps' } }, t('Step')),
  element('option', { attributes: { value: 'minutes' } }, t('Minutes')),
);
axis.value = chosen.axis;
axis.addEventListener('change', () => choose({ axis: axis.value === 'minutes' ? 'minutes' : 'steps' }));
const grid = element('div', { class: 'grid' });
const moreGrid = element('div', { class: 'grid' });
const moreTitle = element('summary');
const more = element('details', {}, moreTitle, moreGrid);
more.open = chosen.more;
more.addEventListener('toggle', () => choose({ more: more.open }));
const findings = element('ul', { class: 'findings' });
const side = element('section', { class: 'side', attributes: { 'aria-live': 'polite' } });
const nothing = element(
  'p',
  { class: 'quiet' },
  t('Nothing has been measured yet. The charts fill while a run trains.'),
);

root().append(
  element(
    'header',
    {},
    runList,
    element('label', { attributes: { for: 'smoothing' } }, t('Smoothing')),
    slider,
    sliderValue,
    element('label', { attributes: { for: 'axis' } }, t('Over')),
    axis,
  ),
  findings,
  element('div', { class: 'columns' }, element('main', {}, nothing, grid, more), side),
);
onThemeChanged(draw);
post({ type: 'ready' });

function choose(part: Partial<State>): void {
  chosen = { ...chosen, ...part };
  remember(chosen);
  draw();
}

function showRuns(): void {
  // The focus stays where it is while the list is written anew.
  const focused = document.activeElement instanceof HTMLInputElement ? document.activeElement.value : undefined;
  runList.replaceChildren(
    ...runs.map(({ key, label, isShown }, rank) => {
      const box = element('input', { attributes: { type: 'checkbox', value: key } });
      box.checked = isShown;
      box.addEventListener('change', () => {
        const boxes = [...runList.querySelectorAll('input')];
        post({ type: 'show', keys: boxes.filter(({ checked }) => checked).map(({ value }) => value) });
      });
      const sample = element('canvas', { class: 'sample', attributes: { width: '28', height: '10' } });
      const pen = sample.getContext('2d');
      if (pen) {
        const { stroke, dash } = styleOf(rank);
        pen.strokeStyle = stroke;
        pen.lineWidth = 2;
        pen.setLineDash(dash);
        pen.beginPath();
        pen.moveTo(0, 5);
        pen.lineTo(28, 5);
        pen.stroke();
      }
      return element('label', { class: 'run' }, box, isShown ? sample : undefined, label);
    }),
  );
  if (focused !== undefined) [...runList.querySelectorAll('input')].find(({ value }) => value === focused)?.focus();
}

function draw(): void {
  const at = ({ x, minutes }: Place) => (chosen.axis === 'minutes' ? minutes : x);
  const rankOf = (key: string) => runs.findIndex((run) => run.key === key);
  const names = inOrder(series.flatMap(({ metrics }) => Object.keys(metrics)));
  const pictures: [picture: Picture, lines: Line[]][] = [];
  const splits = inOrder(series.flatMap(({ evaluations }) => evaluations.map(({ split }) => split)));
  for (const split of splits) {
    const lines = series.flatMap(({ key, label, evaluations }): Line[] => {
      const points = evaluations.filter((point) => point.split === split);
      if (points.length === 0) return [];
      const intervals = points.map(({ low, high }) => [low, high] as const);
      return [{ key, label, rank: rankOf(key), x: points.map(at), y: points.map(({ rate }) => rate), intervals }];
    });
    pictures.push([{ title: t('success of evaluations ({0})', split), kind: 'evaluation' }, lines]);
  }
  for (const name of names) {
    const lines = series.flatMap(({ key, label, x, minutes, metrics }): Line[] =>
      name in metrics
        ? [{ key, label, rank: rankOf(key), x: chosen.axis === 'minutes' ? minutes : x, y: metrics[name] }]
        : [],
    );
    pictures.push([{ title: name, kind: 'rollout' }, lines]);
  }
  const bands =
    series.length === 1
      ? series[0].bands.map(({ stage, from, to }) => ({ from: at(from), to: at(to), name: stageNames[stage] }))
      : [];
  const marks = series.flatMap((run) => run.marks.map((mark) => ({ x: at(mark), severity: mark.severity })));
  const places = series.flatMap(({ x, minutes, evaluations }) => [
    ...(chosen.axis === 'minutes' ? minutes : x),
    ...evaluations.map(at),
  ]);
  const range = rangeOf(places);
  const chartOf = ([{ title, kind }, lines]: [Picture, Line[]]) => {
    const chart = charts.get(title) ?? new Chart(title, (key, x) => choosePoint(kind, key, x));
    charts.set(title, chart);
    return {
      chart,
      show: () => chart.show({ lines, marks, bands, smoothing: chosen.smoothing, axis: chosen.axis, range }),
    };
  };
  const first = pictures.slice(0, shownAtOnce).map(chartOf);
  const rest = chosen.more ? pictures.slice(shownAtOnce).map(chartOf) : [];
  place(
    grid,
    first.map(({ chart }) => chart),
  );
  place(
    moreGrid,
    rest.map(({ chart }) => chart),
  );
  [...first, ...rest].forEach(({ show }) => show());
  more.hidden = pictures.length <= shownAtOnce;
  moreTitle.textContent = t('{0} more metrics', Math.max(0, pictures.length - shownAtOnce));
  nothing.hidden = pictures.length > 0;
  showFindings();
}

/** The ends of the axis; a single place stands at its beginning. */
function rangeOf(places: readonly number[]): [number, number] {
  const least = places.reduce((a, b) => Math.min(a, b), Infinity);
  const most = places.reduce((a, b) => Math.max(a, b), -Infinity);
  if (places.length === 0) return [0, 1];
  return [least, most > least ? most : least + 1];
}

/** Puts the charts into a grid in their order; those that are there stay as they are. */
function place(parent: HTMLElement, wanted: readonly Chart[]): void {
  const figures = wanted.map(({ figure }) => figure);
  if (figures.length === parent.children.length && figures.every((one, index) => parent.children[index] === one))
    return;
  parent.replaceChildren(...figures);
}

function showFindings(): void {
  const lines = series.flatMap(({ label, marks }) =>
    marks.map(({ x, mode, severity, message }) => {
      const icon = severity === 'critical' ? '✖' : '⚠';
      const where = series.length > 1 ? `${label}, ${t('step {0}', x)}` : t('step {0}', x);
      const word = severity === 'critical' ? t('critical') : t('warning');
      const sign = element('span', { class: severity }, icon);
      return element('li', {}, sign, ` ${where}: ${mode} (${word}). ${message}`);
    }),
  );
  findings.hidden = lines.length === 0;
  findings.replaceChildren(...lines);
}

function choosePoint(kind: Picture['kind'], key: string, position: number): void {
  const run = series.find((candidate) => candidate.key === key);
  if (!run) return;
  const points: readonly Place[] =
    kind === 'evaluation' ? run.evaluations : run.x.map((x, index) => ({ x, minutes: run.minutes[index] }));
  const point = points.find(({ x, minutes }) => (chosen.axis === 'minutes' ? minutes : x) === position);
  if (point) post({ type: 'point', key, step: point.x, kind });
}

function showTrajectories({ key, title, trajectories }: Trajectories): void {
  const rows = trajectories.map(({ id, taskId, outcome, reward }) =>
    element(
      'tr',
      {},
      element('td', {}, outcome),
      element('td', { class: 'number' }, reward === null ? t('none') : reward.toFixed(2)),
      element(
        'td',
        { class: 'wrap' },
        element(
          'button',
          { class: 'link', title: id, onClick: () => post({ type: 'open', key, trajectoryId: id }) },
          taskId,
        ),
      ),
    ),
  );
  const head = element(
    'tr',
    {},
    element('th', {}, t('Outcome')),
    element('th', { class: 'number' }, t('Reward')),
    element('th', {}, t('Task')),
  );
  side.replaceChildren(
    element('h2', {}, title),
    rows.length === 0
      ? element('p', { class: 'quiet' }, t('No trajectory was played there.'))
      : element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows)),
  );
}

/// <reference lib="dom" />
import uPlot from 'uplot';
import { colour, element } from '../../pages/dom.js';
import { t } from '../../translate.js';
import { align, smooth } from '../smoothing.js';

/** One run's values of one metric. */
export interface Line {
  readonly key: string;
  readonly label: string;
  /** The run's place among all runs: it keeps its colour and dashes whichever others are shown. */
  readonly rank: number;
  readonly x: readonly number[];
  readonly y: readonly (number | null)[];
  /** Confidence intervals, aligned with `y`. */
  readonly intervals?: readonly (readonly [low: number, high: number])[];
}
/** A vertical line with what the doctor found there. */
export interface ChartMark {
  readonly x: number;
  readonly severity: 'warning' | 'critical';
}
/** A stretch of the axis with its name. */
export interface ChartBand {
  readonly from: number;
  readonly to: number;
  readonly name: string;
}
export interface Picture {
  readonly lines: readonly Line[];
  readonly marks: readonly ChartMark[];
  readonly bands: readonly ChartBand[];
  readonly smoothing: number;
  readonly axis: 'steps' | 'minutes';
  /** What the axis reaches over: the same in every chart. */
  range: [least: number, most: number];
}

const height = 190;
const colours: readonly (readonly [name: string, otherwise: string])[] = [
  ['charts.blue', '#1a85ff'],
  ['charts.orange', '#d18616'],
  ['charts.green', '#388a34'],
  ['charts.purple', '#b180d7'],
  ['charts.red', '#e51400'],
  ['charts.yellow', '#bf8803'],
];
const dashes: readonly (readonly number[])[] = [[], [8, 4], [2, 3], [10, 3, 2, 3]];

/** Runs are told apart by colour and by dashes. */
export const styleOf = (rank: number) => ({
  stroke: colour(...colours[rank % colours.length]),
  dash: [...dashes[rank % dashes.length]],
});

/** A chart of one metric that the mouse and the keyboard can walk along; Enter and a click choose a point. */
export class Chart {
  readonly figure: HTMLElement;
  private readonly frame: HTMLElement;
  private readonly reading = element('span', { class: 'reading', attributes: { 'aria-live': 'off' } });
  private plot?: uPlot;
  private picture?: Picture;
  private shape = '';
  private columns: { x: number[]; ys: (number | null)[][] } = { x: [], ys: [] };
  private at: { index: number; line: number } | undefined;

  constructor(
    readonly title: string,
    private readonly choose: (key: string, x: number) => void,
  ) {
    this.frame = element('div', { class: 'frame', attributes: { role: 'img', tabindex: '0' } });
    this.figure = element(
      'figure',
      {},
      element('figcaption', {}, element('b', {}, title), ' ', this.reading),
      this.frame,
    );
    this.frame.addEventListener('keydown', (event) => this.onKey(event));
    this.frame.addEventListener('click', () => this.chooseHere());
    // All charts change with every step of a training: only the one that is walked along is read out.
    this.frame.addEventListener('focus', () => this.reading.setAttribute('aria-live', 'polite'));
    this.frame.addEventListener('blur', () => this.reading.setAttribute('aria-live', 'off'));
    new ResizeObserver(() => this.plot?.setSize({ width: this.width, height })).observe(this.frame);
  }

  show(picture: Picture): void {
    this.picture = picture;
    const { lines, smoothing } = picture;
    this.columns = align(lines);
    const smoothed = lines.map((_, index) => smooth(this.columns.ys[index], smoothing));
    const data = [this.columns.x, ...smoothed, ...(smoothing > 0 ? this.columns.ys : [])] as uPlot.AlignedData;
    const shape = JSON.stringify([lines.map(({ rank }) => rank), smoothing > 0, picture.axis, document.body.className]);
    if (this.plot && shape === this.shape) this.plot.setData(data);
    else this.rebuild(data, shape);
    this.frame.setAttribute('aria-label', this.description());
    this.read();
  }

  private get width(): number {
    return Math.max(200, this.frame.clientWidth);
  }

  private rebuild(data: uPlot.AlignedData, shape: string): void {
    this.plot?.destroy();
    this.shape = shape;
    const { lines, smoothing, axis } = this.picture!;
    const grid = { stroke: 'rgba(128, 128, 128, 0.2)', width: 1 };
    const stroke = colour('foreground', '#808080');
    const font = `11px ${getComputedStyle(document.body).fontFamily}`;
    const axes = { stroke, font, grid, ticks: grid };
    const curve = (line: Line, faint: boolean): uPlot.Series => ({
      ...styleOf(line.rank),
      width: faint ? 1 : 2,
      alpha: faint ? 0.35 : 1,
      spanGaps: true,
      points: { show: !faint && line.x.length < 60, size: 5 },
    });
    const raw = smoothing > 0 ? lines.map((line) => curve(line, true)) : [];
    this.plot = new uPlot(
      {
        width: this.width,
        height,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false } },
        scales: {
          x: { time: false, range: () => this.picture!.range },
          y: { range: (_, low, high) => roomy(low, high, this.extremes()) },
        },
        axes: [
          { ...axes, size: 34, label: axis === 'minutes' ? t('Minutes') : t('Step'), labelSize: 14, labelFont: font },
          { ...axes, size: 54 },
        ],
        series: [{}, ...lines.map((line) => curve(line, false)), ...raw],
        hooks: {
          drawClear: [(plot) => this.drawBands(plot)],
          draw: [(plot) => this.drawIntervals(plot), (plot) => this.drawMarks(plot)],
          setCursor: [(plot) => this.onCursor(plot)],
        },
      },
      data,
      this.frame,
    );
  }

  private extremes(): number[] {
    return this.picture!.lines.flatMap(({ intervals }) => (intervals ?? []).flat());
  }

  private drawBands({ ctx, bbox, valToPos }: uPlot): void {
    const tint = colour('editor.foreground', '#808080');
    ctx.save();
    ctx.font = `${10 * devicePixelRatio}px sans-serif`;
    ctx.textBaseline = 'top';
    ctx.textAlign = 'left';
    this.picture!.bands.forEach(({ from, to, name }, index) => {
      const left = Math.max(bbox.left, valToPos(from, 'x', true));
      const right = Math.min(bbox.left + bbox.width, valToPos(to, 'x', true));
      if (!(right > left)) return;
      ctx.fillStyle = tint;
      ctx.globalAlpha = index % 2 === 0 ? 0.05 : 0.1;
      ctx.fillRect(left, bbox.top, right - left, bbox.height);
      ctx.globalAlpha = 0.7;
      if (ctx.measureText(name).width < right - left - 6) ctx.fillText(name, left + 4, bbox.top + 3);
    });
    ctx.restore();
  }

  private drawMarks({ ctx, bbox, valToPos }: uPlot): void {
    ctx.save();
    ctx.lineWidth = devicePixelRatio;
    ctx.textAlign = 'center';
    ctx.font = `bold ${12 * devicePixelRatio}px sans-serif`;
    for (const { x, severity } of this.picture!.marks) {
      const left = valToPos(x, 'x', true);
      if (left < bbox.left || left > bbox.left + bbox.width) continue;
      const critical = severity === 'critical';
      ctx.strokeStyle = ctx.fillStyle = critical
        ? colour('editorError.foreground', '#e51400')
        : colour('editorWarning.foreground', '#bf8803');
      ctx.setLineDash(critical ? [] : [4 * devicePixelRatio, 3 * devicePixelRatio]);
      ctx.beginPath();
      ctx.moveTo(left, bbox.top);
      ctx.lineTo(left, bbox.top + bbox.height);
      ctx.stroke();
      ctx.fillText(critical ? '✖' : '⚠', left, bbox.top - 2 * devicePixelRatio);
    }
    ctx.restore();
  }

  private drawIntervals({ ctx, valToPos }: uPlot): void {
    ctx.save();
    ctx.lineWidth = devicePixelRatio;
    for (const { x, rank, intervals } of this.picture!.lines) {
      ctx.strokeStyle = styleOf(rank).stroke;
      intervals?.forEach(([low, high], index) => {
        const left = valToPos(x[index], 'x', true);
        ctx.beginPath();
        ctx.moveTo(left, valToPos(low, 'y', true));
        ctx.lineTo(left, valToPos(high, 'y', true));
        ctx.stroke();
      });
    }
    ctx.restore();
  }

  /** The mouse is at a place: the line nearest to it is meant. */
  private onCursor({ cursor, valToPos }: uPlot): void {
    const { idx, top } = cursor;
    if (idx === null || idx === undefined) return;
    const near = this.columns.ys
      .map((y, line) => ({ line, y: y[idx] }))
      .flatMap(({ line, y }) => (y === null ? [] : [{ line, far: Math.abs(valToPos(y, 'y') - (top ?? 0)) }]))
      .sort((a, b) => a.far - b.far);
    this.at = near.length === 0 ? undefined : { index: idx, line: near[0].line };
    this.read();
  }

  private onKey(event: KeyboardEvent): void {
    const { key } = event;
    if (key === 'Enter') this.chooseHere();
    else if (key === 'ArrowLeft' || key === 'ArrowRight') this.walk(key === 'ArrowLeft' ? -1 : 1);
    else if (key === 'ArrowUp' || key === 'ArrowDown') this.changeLine(key === 'ArrowUp' ? -1 : 1);
    else return;
    event.preventDefault();
  }

  private walk(by: number): void {
    const line = this.at?.line ?? 0;
    const y = this.columns.ys[line] ?? [];
    let index = this.at ? this.at.index + by : by > 0 ? 0 : y.length - 1;
    while (index >= 0 && index < y.length && y[index] === null) index += by;
    if (index < 0 || index >= y.length) return;
    this.moveTo(index, line);
  }

  private changeLine(by: number): void {
    const count = this.columns.ys.length;
    if (!this.at || count === 0) return;
    this.moveTo(this.at.index, (this.at.line + by + count) % count);
  }

  private moveTo(index: number, line: number): void {
    const y = this.columns.ys[line][index];
    this.plot?.setCursor(
      {
        left: this.plot.valToPos(this.columns.x[index], 'x'),
        top: y === null ? 0 : this.plot.valToPos(y, 'y'),
      },
      false,
    );
    this.at = { index, line };
    this.read();
  }

  private chooseHere(): void {
    const line = this.at && this.picture?.lines[this.at.line];
    if (line && this.at) this.choose(line.key, this.columns.x[this.at.index]);
  }

  private read(): void {
    const { lines = [], axis = 'steps' } = this.picture ?? {};
    const { index, line } = this.at ?? { index: -1, line: 0 };
    const value = this.columns.ys[line]?.[index];
    if (value !== undefined && value !== null && lines[line]) {
      const at = figure(this.columns.x[index]);
      const place = axis === 'minutes' ? t('minute {0}', at) : t('step {0}', at);
      this.reading.textContent = `${t('{0} at {1}', figure(value), place)}${lines.length > 1 ? ` · ${lines[line].label}` : ''}`;
    } else {
      this.reading.textContent = lines.length === 1 ? figure(lastOf(lines[0])) : '';
    }
  }

  /** For those who do not see the curves. */
  private description(): string {
    const { lines, marks } = this.picture!;
    const curves = lines.map((line) =>
      t('{0}: from {1} to {2}', line.label, figure(line.y[0] ?? null), figure(lastOf(line))),
    );
    const found = marks.length === 0 ? '' : ` ${t('The doctor marks {0} places.', marks.length)}`;
    return `${this.title}. ${curves.join('. ')}.${found} ${t('Arrow keys read the points, Enter lists the trajectories of one.')}`;
  }
}

const lastOf = ({ y }: Line) => y.filter((value) => value !== null).at(-1) ?? null;
const figure = (value: number | null) => (value === null ? t('nothing') : String(Number(value.toPrecision(4))));

/** The values with a little room; a constant is drawn in the middle. */
function roomy(low: number | null, high: number | null, extremes: readonly number[]): [number, number] {
  if (low === null || high === null) return [0, 1];
  const [least, most] = [Math.min(low, ...extremes), Math.max(high, ...extremes)];
  const room = most > least ? (most - least) * 0.08 : Math.abs(most) * 0.1 || 0.1;
  return [least - room, most + room];
}

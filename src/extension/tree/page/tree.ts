/// <reference lib="dom" />
import './tree.css';
import { connect, element, root } from '../../pages/dom.js';
import { shortText } from '../../pages/shortText.js';
import { visibleText } from '../../trajectory/visibleText.js';
import { t } from '../../translate.js';
import type { GroupNode } from '../groupTree.js';
import { tintOpacity } from '../tint.js';
import type { FromTree, ToTree } from '../treeMessages.js';

const box = { width: 184, height: 38, columnGap: 34, rowGap: 10 };
const margin = 12;
const svgSpace = 'http://www.w3.org/2000/svg';
const roleSigns = { prompt: '❯', agent: '✎', observation: '◂', outcome: '■' };
const roleWords: Readonly<Record<GroupNode['role'], () => string>> = {
  prompt: () => t('prompt'),
  agent: () => t('agent'),
  observation: () => t('observation'),
  outcome: () => t('outcome'),
};

let nodes: readonly GroupNode[] = [];
let shapes: readonly SVGGElement[] = [];
let selected = 0;
let zoom = 1;

const { post, remember } = connect<ToTree, FromTree, { key: string }>((message) => {
  remember({ key: message.key });
  show(message);
});

const title = element('h1', { class: 'wrap' });
const hint = element(
  'p',
  { class: 'quiet' },
  t(
    'Blue: pushed up, red with a broken line: pushed down; the stronger, the further from 0. Arrow keys walk, Enter opens the trajectory there, + and − zoom.',
  ),
);
const stage = element('div', { class: 'stage' });
const minimap = element('div', { class: 'minimap', attributes: { 'aria-hidden': 'true' } });
const details = element('section', { class: 'details', attributes: { 'aria-live': 'polite' } });
root().append(
  title,
  element(
    'p',
    { class: 'actions' },
    element('button', { onClick: () => setZoom(zoom * 1.25), title: t('Zoom in (+)') }, t('Zoom In')),
    element('button', { onClick: () => setZoom(zoom / 1.25), title: t('Zoom out (−)') }, t('Zoom Out')),
    element('button', { onClick: () => setZoom(1), title: t('Natural size (0)') }, '100 %'),
    element('button', { onClick: () => post({ type: 'touchedLines' }) }, t('Mark Touched Lines in the Source')),
  ),
  hint,
  stage,
  minimap,
  details,
);
stage.addEventListener('scroll', drawViewport);
stage.addEventListener('wheel', (event) => {
  if (!event.ctrlKey) return;
  event.preventDefault();
  setZoom(zoom * (event.deltaY < 0 ? 1.1 : 1 / 1.1));
});
new ResizeObserver(drawViewport).observe(stage);
post({ type: 'ready' });

function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string | number>>,
  ...children: readonly (Node | string)[]
): SVGElementTagNameMap[Tag] {
  const made = document.createElementNS(svgSpace, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

const left = ({ column }: GroupNode) => margin + column * (box.width + box.columnGap);
const top = ({ row }: GroupNode) => margin + row * (box.height + box.rowGap);

function show({ title: text, nodes: given, leftOut }: ToTree): void {
  nodes = given;
  selected = 0;
  const heading = shortText(text);
  title.textContent = visibleText(heading.text);
  title.title = heading.title ?? '';
  hint.hidden = nodes.length === 0;
  if (leftOut > 0)
    title.append(element('span', { class: 'quiet' }, ` (${t('{0} more rollouts are not drawn', leftOut)})`));
  const width = Math.max(0, ...nodes.map(left)) + box.width + margin;
  const height = Math.max(0, ...nodes.map(top)) + box.height + margin;
  const strongest = Math.max(...nodes.map(({ advantage }) => Math.abs(advantage ?? 0)), 1e-9);
  shapes = nodes.map((node, at) => shapeOf(node, at, strongest));
  const picture = svg('g', { id: 'picture' }, ...nodes.flatMap(edgeOf), ...shapes);
  const canvas = svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, role: 'tree', 'aria-label': visibleText(heading.text) },
    picture,
  );
  stage.replaceChildren(canvas);
  const whole = svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}` },
    svg('use', { href: '#picture' }),
    svg('rect', { class: 'viewport' }),
  );
  whole.addEventListener('click', (event) => scrollTo(event, whole, width, height));
  minimap.replaceChildren(whole);
  setZoom(zoom);
  select(0, false);
}

function edgeOf(node: GroupNode): Node[] {
  if (node.parent === null) return [];
  const parent = nodes[node.parent];
  const [x1, y1] = [left(parent) + box.width, top(parent) + box.height / 2];
  const [x2, y2] = [left(node), top(node) + box.height / 2];
  const middle = (x1 + x2) / 2;
  const width = Math.min(8, 1 + node.passages.length / 2);
  return [
    svg('path', {
      class: 'edge',
      d: `M${x1},${y1} C${middle},${y1} ${middle},${y2} ${x2},${y2}`,
      'stroke-width': width,
    }),
  ];
}

function shapeOf(node: GroupNode, at: number, strongest: number): SVGGElement {
  const { advantage, role, passages } = node;
  const strength = Math.abs(advantage ?? 0) / strongest;
  const direction = advantage === null || advantage === 0 ? 'none' : advantage > 0 ? 'up' : 'down';
  const tint = svg('rect', { class: `tint ${direction}`, width: box.width, height: box.height, rx: 4 });
  tint.style.fillOpacity = String(tintOpacity(strength));
  const count = passages.length > 1 ? ` ×${passages.length}` : '';
  const shape = svg(
    'g',
    {
      class: `node ${role} ${direction}`,
      transform: `translate(${left(node)},${top(node)})`,
      role: 'treeitem',
      tabindex: '-1',
      'aria-level': node.column + 1,
      'aria-label': inWords(node),
    },
    svg('rect', { class: 'ground', width: box.width, height: box.height, rx: 4 }),
    tint,
    svg('text', { x: 8, y: 15, class: 'label' }, cut(`${roleSigns[role]} ${node.label}${count}`, 20)),
    svg('text', { x: 8, y: 31, class: 'detail' }, cut(node.detail, 25)),
    svg('text', { x: box.width - 6, y: 15, class: 'advantage' }, advantage === null ? '' : signed(advantage)),
  );
  shape.addEventListener('click', () => {
    select(at);
    openSelected();
  });
  shape.addEventListener('focus', () => select(at, false));
  shape.addEventListener('keydown', onKey);
  return shape;
}

function inWords({ role, label, detail, advantage, passages }: GroupNode): string {
  const who = passages.map(({ rollout }) => rollout).join(', ');
  const weight = advantage === null ? '' : `, ${t('advantage {0}', signed(advantage))}`;
  return visibleText(`${roleWords[role]()}: ${label} ${detail}, ${t('rollouts {0}', who)}${weight}`);
}

function cut(text: string, length: number): string {
  const visible = visibleText(text).replace(/\s+/g, ' ');
  return visible.length > length ? `${visible.slice(0, length - 1)}…` : visible;
}

const signed = (value: number) => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;

function onKey(event: KeyboardEvent): void {
  const { parent } = nodes[selected];
  const children = nodes.flatMap((node, at) => (node.parent === selected ? [at] : []));
  if (event.key === 'ArrowLeft' && parent !== null) select(parent);
  else if (event.key === 'ArrowRight' && children.length > 0) select(children[0]);
  else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') selectBeside(event.key === 'ArrowUp' ? -1 : 1);
  else if (event.key === 'Home') select(0);
  else if (event.key === 'Enter' || event.key === ' ') openSelected();
  else if (event.key === '+' || event.key === '=') setZoom(zoom * 1.25);
  else if (event.key === '-') setZoom(zoom / 1.25);
  else if (event.key === '0') setZoom(1);
  else return;
  event.preventDefault();
}

/** The next node of the same column. */
function selectBeside(by: number): void {
  const { column, row } = nodes[selected];
  const beside = nodes
    .map((node, at) => ({ at, column: node.column, far: (node.row - row) * by }))
    .filter((candidate) => candidate.column === column && candidate.far > 0)
    .sort((a, b) => a.far - b.far);
  if (beside.length > 0) select(beside[0].at);
}

function select(at: number, focus = true): void {
  if (nodes.length === 0) return details.replaceChildren(element('p', {}, t('No trajectory was played here.')));
  shapes[selected]?.setAttribute('tabindex', '-1');
  shapes[selected]?.classList.remove('selected');
  selected = at;
  shapes[at].setAttribute('tabindex', '0');
  shapes[at].classList.add('selected');
  if (focus) {
    shapes[at].focus();
    shapes[at].scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }
  showDetails(nodes[at]);
}

function openSelected(): void {
  const [{ trajectoryId, message }] = nodes[selected].passages;
  post({ type: 'open', trajectoryId, message });
}

function showDetails(node: GroupNode): void {
  const { file, passages } = node;
  details.replaceChildren(
    element('h2', { class: 'wrap' }, inWords(node)),
    element(
      'p',
      { class: 'actions' },
      ...passages
        .slice(0, 16)
        .map(({ trajectoryId, message, rollout }) =>
          element(
            'button',
            { onClick: () => post({ type: 'open', trajectoryId, message }) },
            t('Open Rollout {0}', rollout),
          ),
        ),
      element(
        'button',
        { onClick: () => post({ type: 'explain', trajectoryId: passages[0].trajectoryId }) },
        t('Explain Reward'),
      ),
      element(
        'button',
        { onClick: () => post({ type: 'replay', trajectoryId: passages[0].trajectoryId }) },
        t('Replay'),
      ),
      file === null
        ? undefined
        : element(
            'button',
            { class: 'wrap', title: shortText(file).title, onClick: () => post({ type: 'openFile', file }) },
            t('Open {0} in the Source', shortText(file).text),
          ),
    ),
    element('pre', {}, node.text),
  );
}

function setZoom(wanted: number): void {
  zoom = Math.min(4, Math.max(0.1, wanted));
  const canvas = stage.querySelector('svg');
  if (!canvas) return;
  const { width, height } = canvas.viewBox.baseVal;
  canvas.style.width = `${width * zoom}px`;
  canvas.style.height = `${height * zoom}px`;
  drawViewport();
}

/** The minimap is there only where the picture is larger than its frame. */
function drawViewport(): void {
  const { scrollLeft, scrollTop, clientWidth, clientHeight, scrollWidth, scrollHeight } = stage;
  minimap.hidden = scrollWidth <= clientWidth + 2 && scrollHeight <= clientHeight + 2;
  const viewport = minimap.querySelector('.viewport');
  const place = { x: scrollLeft, y: scrollTop, width: clientWidth, height: clientHeight };
  for (const [name, value] of Object.entries(place)) viewport?.setAttribute(name, String(value / zoom));
}

function scrollTo(event: MouseEvent, whole: SVGSVGElement, width: number, height: number): void {
  const area = whole.getBoundingClientRect();
  const x = ((event.clientX - area.left) / area.width) * width * zoom;
  const y = ((event.clientY - area.top) / area.height) * height * zoom;
  stage.scrollTo(x - stage.clientWidth / 2, y - stage.clientHeight / 2);
}

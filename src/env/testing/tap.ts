/** A test point of TAP that has no points below it, or that failed by itself. */
export interface TapTest {
  /** Descriptions of the points around it, outermost first, then its own; an empty description is `test <number>`. */
  readonly path: readonly string[];
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Words after `# SKIP` or `# TODO`; empty elsewhere. */
  readonly reason: string;
  /** What came with it: the lines of its YAML block, or the comments after a point that failed. */
  readonly diagnostics: string;
}

interface Point {
  readonly ok: boolean;
  readonly number: number;
  readonly description: string;
  readonly directive: 'skip' | 'todo' | null;
  readonly reason: string;
  readonly diagnostics: string[];
  /** Comments after a YAML block are not about the point. */
  hasYaml: boolean;
  /** The comment before it, by which tape tells its tests apart. */
  readonly heading: string | null;
  children: Level | null;
}

/** One document: the stream itself, or a subtest. */
interface Level {
  readonly indent: number;
  /** Did a comment `# Subtest: …` announce it? */
  readonly announced: boolean;
  readonly points: Point[];
  /** Number of tests that the plan names; null before a plan came. */
  plan: number | null;
  /** Broken beyond doubt: two plans, or numbers out of order. */
  broken: boolean;
}

const newLevel = (indent: number, announced: boolean): Level => ({
  indent,
  announced,
  points: [],
  plan: null,
  broken: false,
});
const isWhole = (level: Level) => !level.broken && level.plan === level.points.length;
const deepest = 64;

/**
 * Every test of a TAP stream (versions 12 to 14), in order. Subtests are told by four spaces of indentation, or by braces (as
 * node-tap writes them); a point with subtests is their summary, and a test of its own only where it failed and none of them did,
 * or where their plan does not fit. `# TODO` is a skip whether it passed or not, like a skip of `# SKIP`. What is no TAP is passed over.
 * Null where the stream is incomplete: no plan, a plan that names another number of tests, numbers out of order, a
 * YAML block without an end, or `Bail out!`.
 */
export function parseTap(text: string): TapTest[] | null {
  const reader = new Reader();
  for (const line of text.split('\n')) {
    if (!reader.read(line.replace(/\r$/, ''))) return null;
  }
  const top = reader.end();
  if (top === null || !isWhole(top)) return null;
  const summary = /^# tests\s+\d+\s*$/m.test(text) && /^# pass\s+\d+\s*$/m.test(text);
  return testsOf(top, [], summary && !/^\s*# Subtest: /m.test(text));
}

class Reader {
  private readonly levels: Level[] = [newLevel(0, true)];
  /** A subtest that ended and whose summary has not come. */
  private finished: Level | null = null;
  private yamlIndent: number | null = null;
  private heading: string | null = null;
  private announced = false;

  /** False where the stream says that it is given up. */
  read(line: string): boolean {
    const indent = line.length - line.trimStart().length;
    const content = line.trimStart();
    if (this.yamlIndent !== null) {
      if (indent === this.yamlIndent && /^\.\.\.\s*$/.test(content)) this.yamlIndent = null;
      else this.lastPoint?.diagnostics.push(line.slice(this.yamlIndent));
      return true;
    }
    if (/^Bail out!/i.test(content)) return false;
    if (/^---\s*$/.test(content) && this.lastPoint && indent === this.level.indent + 2) {
      this.yamlIndent = indent;
      this.lastPoint.hasYaml = true;
      return true;
    }
    if (content.startsWith('# Subtest')) this.announced = true;
    if (content.startsWith('#') && indent === this.level.indent) this.comment(content);
    if (/^}\s*$/.test(content) && indent < this.level.indent) this.closeTo(indent);
    const plan = /^1\.\.(\d+)(?:\s|$)/.exec(content);
    const point = /^(not )?ok(?:[ \t]+(\d+))?(?:[ \t]+(.*))?$/.exec(content);
    if ((plan || point) && this.moveTo(indent)) {
      if (plan) this.plan(Number(plan[1]));
      else if (point) this.point(point[1] === undefined, point[2], point[3] ?? '');
    }
    return true;
  }

  /** The outermost level; null where something that was begun has no end. */
  end(): Level | null {
    if (this.yamlIndent !== null) return null;
    this.closeTo(0);
    return this.levels[0];
  }

  private get level(): Level {
    return this.levels[this.levels.length - 1];
  }

  private get lastPoint(): Point | undefined {
    return this.level.points[this.level.points.length - 1];
  }

  /** To the level of this indentation; false for one that no level can have: the line is no TAP then. */
  private moveTo(indent: number): boolean {
    if (indent === this.level.indent) return true;
    if (indent > this.level.indent) {
      if ((indent - this.level.indent) % 4 !== 0 || indent > 4 * deepest) return false;
      // The first test of a nested subtest comes before anything on the levels around it.
      while (this.level.indent < indent) this.levels.push(newLevel(this.level.indent + 4, this.announced));
      this.announced = false;
      this.finished = null;
      this.heading = null;
      return true;
    }
    if (!this.levels.some((level) => level.indent === indent)) return false;
    this.closeTo(indent);
    return true;
  }

  private closeTo(indent: number): void {
    while (this.levels.length > 1 && this.level.indent > indent) {
      const closed = this.levels.pop() ?? null;
      // After a summary with a brace its subtests follow; else they come before it.
      const opened = this.lastPoint;
      if (opened?.children && opened.children.indent < 0) opened.children = closed;
      // Lines that only look like a subtest, which a test printed, have no plan.
      else this.finished = closed && (closed.announced || closed.plan !== null) ? closed : null;
    }
  }

  private comment(content: string): void {
    const words = content.replace(/^# ?/, '');
    const last = this.lastPoint;
    if (last && !last.ok && !last.hasYaml) last.diagnostics.push(words);
    this.heading = words.trim();
  }

  private plan(count: number): void {
    if (this.level.plan !== null) this.level.broken = true;
    this.level.plan = count;
  }

  private point(ok: boolean, written: string | undefined, rest: string): void {
    const { points } = this.level;
    const number = points.length + 1;
    if (written !== undefined && Number(written) !== number) this.level.broken = true;
    const plain = rest.trimEnd();
    const opens = plain === '{' || plain.endsWith(' {');
    points.push({
      ok,
      number,
      ...described(opens ? plain.slice(0, -1) : plain),
      diagnostics: [],
      hasYaml: false,
      heading: this.heading,
      children: opens ? newLevel(-1, true) : this.finished,
    });
    this.finished = null;
    this.heading = null;
    this.announced = false;
  }
}

/** `- name # SKIP why`: a hash with a backslash before it belongs to the name, and node-tap's `# time=…` to nothing. */
function described(rest: string): Pick<Point, 'description' | 'directive' | 'reason'> {
  const text = rest
    .trimEnd()
    .replace(/ # time=[\d.]+m?s$/, '')
    .replace(/^-(\s+|$)/, '');
  const match = /(?:^|\s)#\s*(skip|todo)\S*(?:\s+(.*))?$/i.exec(text);
  const description = unescaped((match ? text.slice(0, match.index) : text).trim());
  if (!match) return { description, directive: null, reason: '' };
  return {
    description,
    directive: match[1].toLowerCase() === 'skip' ? 'skip' : 'todo',
    reason: (match[2] ?? '').trim(),
  };
}

const unescaped = (text: string) => text.replace(/\\([\\#])/g, '$1');

function testsOf(level: Level, outer: readonly string[], byHeading: boolean): TapTest[] {
  let heading: string | null = null;
  return level.points.flatMap((point) => {
    heading = point.heading ?? heading;
    const around = byHeading && heading !== null ? [...outer, heading] : outer;
    const path = [...around, point.description || `test ${point.number}`];
    const own = ownTest(point, path);
    if (!point.children || point.children.indent < 0) return [own];
    if (!isWhole(point.children)) {
      return [{ ...own, status: 'failed' as const, diagnostics: 'Its subtests do not fit their plan.' }];
    }
    const below = testsOf(point.children, path, byHeading);
    const failsAlone = own.status === 'failed' && !below.some(({ status }) => status === 'failed');
    return below.length === 0 || failsAlone || own.status === 'skipped' ? [own, ...below] : below;
  });
}

function ownTest(point: Point, path: readonly string[]): TapTest {
  const status = point.directive ? 'skipped' : point.ok ? 'passed' : 'failed';
  return { path, status, reason: point.reason, diagnostics: point.diagnostics.join('\n').trimEnd() };
}

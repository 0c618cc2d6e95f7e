import type { DebugProtocol } from '@vscode/debugprotocol';
import type { Section } from '../trajectory/trajectoryText.js';
import type { ExceptionFilter, StopConditions } from './replayCursor.js';
import { t } from '../translate.js';

/** The breakpoints of a replay: on turns, by lines of the trajectory's document, and on names of tools. */
export class ReplayBreakpoints implements StopConditions {
  readonly turns = new Map<number, number[]>();
  readonly tools = new Map<string, number[]>();
  exceptions: ReadonlySet<ExceptionFilter> = new Set();
  private nextId = 1;

  /** `sections` are those of the document; `called`: the names of all tools that the trajectory calls. */
  constructor(
    private readonly sections: readonly Section[],
    private readonly called: ReadonlySet<string>,
  ) {}

  /** Lines are 1-based, as the protocol has them; a breakpoint moves to the first line of its turn. */
  setLines(lines: readonly number[]): DebugProtocol.Breakpoint[] {
    this.turns.clear();
    return lines.map((line) => {
      const turn = this.turnAt(line);
      if (turn === undefined) return { verified: false, line, message: t('No turn stands here.') };
      return { verified: true, id: this.add(this.turns, turn), line: this.lineOf(turn) };
    });
  }

  setTools(names: readonly string[]): DebugProtocol.Breakpoint[] {
    this.tools.clear();
    return names.map((name) => {
      if (!this.called.has(name)) return { verified: false, message: t('No turn of this trajectory calls {0}.', name) };
      return { verified: true, id: this.add(this.tools, name) };
    });
  }

  setExceptions(filters: readonly string[]): void {
    const known: readonly ExceptionFilter[] = ['failed', 'divergence'];
    this.exceptions = new Set(known.filter((filter) => filters.includes(filter)));
  }

  /** The turn whose messages stand at a 1-based line. */
  turnAt(line: number): number | undefined {
    const found = this.sections.find(({ headerLine, lastLine }) => headerLine < line && line <= lastLine + 1);
    return found?.turn ?? undefined;
  }

  /** 1-based line of the turn's first message, or of its `observation`-th (0-based) one where there is such a one. */
  lineOf(turn: number, observation?: number): number {
    const own = this.sections.filter((section) => section.turn === turn);
    const observations = own.filter(({ role }) => role === 'observation');
    const section = (observation === undefined ? undefined : observations.at(observation)) ?? own.at(0);
    return (section?.headerLine ?? 0) + 1;
  }

  private add<Key>(to: Map<Key, number[]>, key: Key): number {
    const id = this.nextId++;
    to.set(key, [...(to.get(key) ?? []), id]);
    return id;
  }
}

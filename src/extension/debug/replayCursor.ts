import type { SteppedTurn } from '../replay/steppedReplay.js';
import { t } from '../translate.js';

/** Where a replay stopped, and why; in the words of the debug adapter protocol. */
export interface Stop {
  readonly reason: 'entry' | 'step' | 'pause' | 'goto' | 'breakpoint' | 'function breakpoint' | 'exception' | 'end';
  readonly description: string;
  readonly breakpointIds?: readonly number[];
}

export type ExceptionFilter = 'failed' | 'divergence';

/** What a run of turns stops at. */
export interface StopConditions {
  /** Ids of the breakpoints on each turn. */
  readonly turns: ReadonlyMap<number, readonly number[]>;
  /** Ids of the breakpoints on each tool's name. */
  readonly tools: ReadonlyMap<string, readonly number[]>;
  readonly exceptions: ReadonlySet<ExceptionFilter>;
}

/** Plays turns. */
export interface TurnSource {
  /** Undefined where the episode is over before. */
  turn(number: number): Promise<SteppedTurn | undefined>;
  /** Names of the tools that a turn calls. */
  toolsOf(number: number): readonly string[];
}

/**
 * A place in a replay: at the end of turn `at`, or at 0 before the first. Forwards and backwards go one path; a move ends
 * at the first turn that a condition holds for.
 */
export class ReplayCursor {
  at = 0;
  private isPausing = false;

  constructor(
    private readonly source: TurnSource,
    private readonly conditions: () => StopConditions,
  ) {}

  step(): Promise<Stop> {
    return this.move(1, true);
  }

  stepBack(): Promise<Stop> {
    return this.move(-1, true);
  }

  continue(): Promise<Stop> {
    return this.move(1, false);
  }

  reverse(): Promise<Stop> {
    return this.move(-1, false);
  }

  /** Ends a running move after the turn that is being played. */
  pause(): void {
    this.isPausing = true;
  }

  /** To the end of a turn whatever stands between; ends earlier where the episode does. */
  async goTo(turn: number): Promise<Stop> {
    while (this.at < turn && (await this.source.turn(this.at + 1))) this.at += 1;
    this.at = Math.min(this.at, turn);
    return { reason: 'goto', description: this.at === 0 ? t('Before the first turn') : t('At turn {0}', this.at) };
  }

  private async move(direction: 1 | -1, isSingle: boolean): Promise<Stop> {
    this.isPausing = false;
    for (;;) {
      const next = this.at + direction;
      const turn = next < 1 ? undefined : await this.source.turn(next);
      if (!turn && direction > 0) return { reason: 'end', description: await this.ending() };
      this.at = Math.max(0, next);
      if (!turn) return { reason: 'entry', description: t('Before the first turn') };
      const stop = this.stopAt(turn);
      if (stop) return stop;
      if (isSingle) return { reason: 'step', description: t('At turn {0}', next) };
      if (this.isPausing) return { reason: 'pause', description: t('Paused at turn {0}', next) };
    }
  }

  private async ending(): Promise<string> {
    const last = this.at === 0 ? undefined : await this.source.turn(this.at);
    return last?.stopReason ? t('The episode is over: {0}', last.stopReason) : t('The record ends here');
  }

  private stopAt(turn: SteppedTurn): Stop | undefined {
    const { turns, tools, exceptions } = this.conditions();
    const ids = turns.get(turn.turn);
    if (ids) return { reason: 'breakpoint', description: t('Breakpoint on turn {0}', turn.turn), breakpointIds: ids };
    const exception = exceptionOf(turn, exceptions);
    if (exception) return { reason: 'exception', description: exception.title };
    for (const name of this.source.toolsOf(turn.turn)) {
      const found = tools.get(name);
      if (found)
        return { reason: 'function breakpoint', description: t('Breakpoint on {0}', name), breakpointIds: found };
    }
    return undefined;
  }
}

/** What a turn stops a run for; undefined where it went as recorded and well, or nobody asked. */
export function exceptionOf(
  { same, diff, failures }: Pick<SteppedTurn, 'same' | 'diff' | 'failures'>,
  filters: ReadonlySet<ExceptionFilter>,
): { readonly title: string; readonly text: string; readonly detail: string } | undefined {
  const failed = filters.has('failed') ? failures.filter((failure) => failure !== null) : [];
  const diverged = filters.has('divergence') && !same;
  if (failed.length === 0 && !diverged) return undefined;
  const title = [failed.length > 0 ? t('Failed tool call') : '', diverged ? t('Divergence from the record') : '']
    .filter(Boolean)
    .join(', ');
  return { title, text: failed.join('\n'), detail: diverged ? diff : '' };
}

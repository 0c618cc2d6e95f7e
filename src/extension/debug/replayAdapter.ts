import type { DebugProtocol } from '@vscode/debugprotocol';
import { lineOf } from '../lineOf.js';
import { plainLine, plainMessage } from '../plainText.js';
import { visibleText } from '../trajectory/visibleText.js';
import type { Section } from '../trajectory/trajectoryText.js';
import { turnLabel } from '../trajectory/turns.js';
import { ReplayBreakpoints } from './replayBreakpoints.js';
import { exceptionOf, ReplayCursor, type Stop } from './replayCursor.js';
import type { Snapshots } from './snapshots.js';
import type { RecordedTurns } from './turnScopes.js';
import { VariableStore } from './variableStore.js';
import { t } from '../translate.js';

/** What is replayed, opened. */
export interface Debuggee {
  readonly title: string;
  /** Address of the trajectory's document, as the editor writes it. */
  readonly uri: string;
  readonly sections: readonly Section[];
  readonly recorded: RecordedTurns;
  readonly snapshots: Snapshots;
}

/** What a session is started with; `turn`: where it goes first. */
export interface LaunchArguments {
  readonly turn?: number;
}

type Arguments = Readonly<Record<string, unknown>>;
type Handler = (args: Arguments) => object | undefined | Promise<object | undefined>;
type Move = (cursor: ReplayCursor) => Promise<Stop>;

const threadId = 1;
const framesPerTurn = 1000;
/** Characters of what went wrong that are shown over the editor; all of it is among the variables. */
const longestException = 10_000;

/** The turn that a stack frame stands for; 0 before the first. */
export const turnOfFrame = (frameId: number) => Math.floor(frameId / framesPerTurn);

/**
 * A replay as a debug adapter: turns are steps, forwards and backwards; the stack shows the tool calls of the turn that was
 * just played above the turns before it. Each request gets exactly one answer, and that before the `stopped` event that it
 * causes.
 */
export class ReplayAdapter {
  private debuggee?: Debuggee;
  private breakpoints = new ReplayBreakpoints([], new Set());
  private cursor?: ReplayCursor;
  private readonly variables = new VariableStore();
  private isMoving = false;
  private readonly closing = new AbortController();
  private nextSequence = 1;
  /** Where the next `move` without a direction leads. */
  private pending: Move = async () => Promise.resolve({ reason: 'entry', description: t('Before the first turn') });

  /**
   * @param open opens what is to be replayed; the signal aborts where the session ends before
   * @param send delivers a message to the editor
   */
  constructor(
    private readonly open: (args: Arguments, signal: AbortSignal) => Promise<Debuggee>,
    private readonly send: (message: DebugProtocol.ProtocolMessage) => void,
  ) {}

  async handle(message: DebugProtocol.ProtocolMessage): Promise<void> {
    if (message.type !== 'request') return;
    const request = message as DebugProtocol.Request;
    const handler = this.handlers[request.command];
    const answer = { type: 'response', request_seq: request.seq, command: request.command } as const;
    try {
      if (!handler) throw new Error(t('A replay has no request {0}.', request.command));
      const body = await handler((request.arguments ?? {}) as Arguments);
      this.post({ ...answer, success: true, body });
    } catch (error) {
      // The editor shows it as a message.
      const text = plainMessage(lineOf(error));
      this.post({ ...answer, success: false, message: text, body: { error: { id: 1, format: text, showUser: true } } });
      return;
    }
    this.after[request.command]?.();
  }

  async dispose(): Promise<void> {
    this.closing.abort();
    await this.debuggee?.snapshots.close();
  }

  /** What is replayed, once it is open. */
  get opened(): Debuggee | undefined {
    return this.debuggee;
  }

  private get isOver(): boolean {
    return this.closing.signal.aborted;
  }

  /** The turn that the replay stands at. */
  get turn(): number {
    return this.cursor?.at ?? 0;
  }

  /** Every request that is answered. */
  private readonly handlers: Readonly<Record<string, Handler | undefined>> = {
    initialize: capabilities,
    launch: (args) => this.launch(args),
    configurationDone: () => undefined,
    setBreakpoints: (args) => this.setBreakpoints(args as unknown as DebugProtocol.SetBreakpointsArguments),
    setFunctionBreakpoints: (args) => {
      const { breakpoints } = args as unknown as DebugProtocol.SetFunctionBreakpointsArguments;
      return { breakpoints: this.breakpoints.setTools(breakpoints.map(({ name }) => name.trim())) };
    },
    setExceptionBreakpoints: (args) => {
      this.breakpoints.setExceptions((args as unknown as DebugProtocol.SetExceptionBreakpointsArguments).filters);
      return undefined;
    },
    threads: () => ({ threads: [{ id: threadId, name: plainLine(this.debuggee?.title ?? '') }] }),
    stackTrace: (args) => this.stackTrace(args as unknown as DebugProtocol.StackTraceArguments),
    scopes: (args) => this.scopes((args as unknown as DebugProtocol.ScopesArguments).frameId),
    variables: (args) => {
      const { variablesReference, start, count } = args as unknown as DebugProtocol.VariablesArguments;
      return { variables: this.variables.variables(variablesReference, start, count) };
    },
    evaluate: (args) => this.evaluate(args as unknown as DebugProtocol.EvaluateArguments),
    exceptionInfo: () => this.exceptionInfo(),
    next: () => this.mayMove(),
    stepIn: () => this.mayMove(),
    stepOut: () => this.mayMove(),
    continue: () => this.mayMove({ allThreadsContinued: true }),
    stepBack: () => this.mayMove(),
    reverseContinue: () => this.mayMove(),
    pause: () => {
      this.cursor?.pause();
      return undefined;
    },
    gotoTargets: (args) => {
      const turn = this.breakpoints.turnAt((args as unknown as DebugProtocol.GotoTargetsArguments).line);
      if (turn === undefined) return { targets: [] };
      return { targets: [{ id: turn, label: t('Turn {0}', turn), line: this.breakpoints.lineOf(turn) }] };
    },
    goto: (args) => this.mayMoveTo((args as unknown as DebugProtocol.GotoArguments).targetId),
    restartFrame: (args) =>
      this.mayMoveTo(turnOfFrame((args as unknown as DebugProtocol.RestartFrameArguments).frameId)),
    terminate: () => this.end(),
    disconnect: () => this.end(),
  };

  /** What a request starts once it is answered. */
  private readonly after: Readonly<Record<string, (() => void) | undefined>> = {
    launch: () => this.event('initialized'),
    configurationDone: () => this.move(this.pending),
    next: () => this.move((cursor) => cursor.step()),
    stepIn: () => this.move((cursor) => cursor.step()),
    stepOut: () => this.move((cursor) => cursor.continue()),
    continue: () => this.move((cursor) => cursor.continue()),
    stepBack: () => this.move((cursor) => cursor.stepBack()),
    reverseContinue: () => this.move((cursor) => cursor.reverse()),
    goto: () => this.move(this.pending),
    restartFrame: () => this.move(this.pending),
    terminate: () => this.event('terminated'),
  };

  private async launch(args: Arguments): Promise<undefined> {
    const debuggee = await this.open(args, this.closing.signal);
    if (this.isOver) {
      await debuggee.snapshots.close();
      throw new Error(t('The replay was ended.'));
    }
    this.debuggee = debuggee;
    const { recorded, snapshots, sections } = debuggee;
    const toolsOf = (turn: number) => recorded.turns[turn - 1]?.message.toolCalls.map(({ name }) => name) ?? [];
    this.breakpoints = new ReplayBreakpoints(
      sections,
      new Set(recorded.turns.flatMap(({ number }) => toolsOf(number))),
    );
    const seen = new Set<number>();
    const turn = async (number: number) => {
      const played = await snapshots.turn(number);
      if (played && !seen.has(number)) this.tell(number);
      if (played) seen.add(number);
      return played;
    };
    this.cursor = new ReplayCursor({ turn, toolsOf }, () => this.breakpoints);
    const { turn: wanted } = args as LaunchArguments;
    if (wanted !== undefined && wanted > 0) this.pending = (cursor) => cursor.goTo(wanted);
    return undefined;
  }

  private setBreakpoints({ source, breakpoints }: DebugProtocol.SetBreakpointsArguments): object {
    const lines = (breakpoints ?? []).map(({ line }) => line);
    if (queryOf(source.path) === queryOf(this.debuggee?.uri)) return { breakpoints: this.breakpoints.setLines(lines) };
    const message = t('Another trajectory is being replayed.');
    return { breakpoints: lines.map((line) => ({ verified: false, line, message })) };
  }

  /** The calls of the turn that was just played, the last on top, then the turns down to the start. */
  private stackTrace({ startFrame = 0, levels }: DebugProtocol.StackTraceArguments): object {
    const { uri, recorded } = this.opening;
    const source = { name: nameOf(uri), path: uri };
    const frames: DebugProtocol.StackFrame[] = [];
    const now = this.turn;
    const calls = recorded.turns[now - 1]?.message.toolCalls ?? [];
    for (const [index, { name }] of [...calls.entries()].reverse()) {
      const id = now * framesPerTurn + index + 1;
      const line = this.breakpoints.lineOf(now, index);
      frames.push({ id, name: plainLine(name), source, line, column: 1 });
    }
    for (let turn = now; turn >= 1; turn--) {
      const { action, detail } = turnLabel(recorded.turns[turn - 1].message);
      const name = plainLine(`${t('turn {0}', turn)} · ${action} ${detail}`.trim());
      const hint = turn === now ? undefined : ('subtle' as const);
      const line = this.breakpoints.lineOf(turn);
      frames.push({
        id: turn * framesPerTurn,
        name,
        source,
        line,
        column: 1,
        presentationHint: hint,
        canRestart: true,
      });
    }
    frames.push({ id: 0, name: t('start'), source, line: 1, column: 1, canRestart: true });
    const end = levels ? startFrame + levels : undefined;
    return { stackFrames: frames.slice(startFrame, end), totalFrames: frames.length };
  }

  private scopes(frameId: number): object {
    return { scopes: this.variables.scopes(`frame ${frameId}`, () => this.valuesOf(frameId)) };
  }

  private valuesOf(frameId: number) {
    const { recorded, snapshots } = this.opening;
    const played = snapshots.known(turnOfFrame(frameId));
    const call = frameId % framesPerTurn;
    if (played) return recorded.scopes(played, call === 0 ? undefined : call - 1);
    return recorded.startScopes(snapshots.task, snapshots.sandbox, snapshots.changes('oracle'));
  }

  private evaluate({ expression, frameId, context }: DebugProtocol.EvaluateArguments): object {
    const id = frameId ?? this.turn * framesPerTurn;
    const found = this.variables.find(`frame ${id}`, () => this.valuesOf(id), expression);
    if (!found) throw new Error(t('Nothing here is called {0}; try the name of a variable.', expression));
    const { value, whole, variablesReference } = found;
    return { result: context === 'clipboard' ? whole : value, variablesReference };
  }

  private exceptionInfo(): object {
    const played = this.opening.snapshots.known(this.turn);
    const found = played && exceptionOf(played, new Set(['failed', 'divergence']));
    if (!found) throw new Error(t('Nothing went wrong at this turn.'));
    const [text, detail] = [found.text, found.detail].map((whole) => visibleText(whole.slice(0, longestException)));
    return {
      exceptionId: found.title,
      description: text || t('The tools answered something else than what was recorded.'),
      breakMode: 'always',
      details: { message: text, stackTrace: detail },
    };
  }

  private mayMove(answer?: object): object | undefined {
    if (!this.cursor) throw new Error(t('The replay has not started yet.'));
    if (this.isMoving) throw new Error(t('A turn is being played.'));
    return answer;
  }

  private mayMoveTo(turn: number): undefined {
    this.mayMove();
    this.pending = (cursor) => cursor.goTo(turn);
    return undefined;
  }

  private move(how: Move): void {
    const { cursor } = this;
    if (!cursor) return;
    this.isMoving = true;
    void how(cursor)
      .then(({ reason, description, breakpointIds }) => {
        this.isMoving = false;
        const hitBreakpointIds = breakpointIds && [...breakpointIds];
        const where = { threadId, allThreadsStopped: true };
        if (!this.isOver) this.event('stopped', { reason, description, hitBreakpointIds, ...where });
      })
      .catch((error: unknown) => {
        this.isMoving = false;
        if (this.isOver) return;
        this.event('output', { category: 'stderr', output: `${plainLine(lineOf(error))}\n` });
        this.event('terminated');
      });
  }

  /** A line in the debug console about a turn that was played for the first time. */
  private tell(number: number): void {
    const { recorded, snapshots, uri } = this.opening;
    const played = snapshots.known(number);
    if (!played) return;
    const { action, detail } = turnLabel(recorded.turns[number - 1].message);
    const failure = played.failures.find((each) => each !== null);
    const outcome = [
      played.same ? t('as recorded') : t('DIFFERS from the record'),
      failure && t('failed: {0}', failure),
    ];
    const parts = [t('turn {0}', number), `${action} ${detail}`.trim(), ...outcome].filter(Boolean);
    const output = plainLine(parts.join(' · '));
    const source = { name: nameOf(uri), path: uri };
    const line = this.breakpoints.lineOf(number);
    this.event('output', { category: played.same ? 'stdout' : 'stderr', output: `${output}\n`, source, line });
  }

  private async end(): Promise<undefined> {
    await this.dispose();
    return undefined;
  }

  private get opening(): Debuggee {
    if (!this.debuggee) throw new Error(t('The replay has not started yet.'));
    return this.debuggee;
  }

  private event(event: string, body?: object): void {
    this.post({ type: 'event', event, body });
  }

  private post(message: object): void {
    this.send({ seq: this.nextSequence++, ...message } as DebugProtocol.ProtocolMessage);
  }
}

const capabilities = (): DebugProtocol.Capabilities => ({
  supportsConfigurationDoneRequest: true,
  supportsStepBack: true,
  supportsFunctionBreakpoints: true,
  supportsGotoTargetsRequest: true,
  supportsRestartFrame: true,
  supportsExceptionInfoRequest: true,
  supportsDelayedStackTraceLoading: true,
  supportsClipboardContext: true,
  exceptionBreakpointFilters: [
    {
      filter: 'failed',
      label: t('Failed tool calls'),
      description: t('Stops where a tool call failed.'),
      default: true,
    },
    {
      filter: 'divergence',
      label: t('Divergences from the record'),
      description: t('Stops where the tools answer something else than what was recorded.'),
      default: true,
    },
  ],
});

const nameOf = (uri: string) => decodeURIComponent(/([^/]*)\.trajectory/.exec(uri)?.[1] ?? 'trajectory');
const queryOf = (uri: string | undefined) => uri?.split('?', 2)[1];

import type { DebugProtocol } from '@vscode/debugprotocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { ReplayAdapter } from './replayAdapter.js';
import { recordedTrajectory, ScriptedReplay, sections } from './scripted.testing.js';
import { Snapshots } from './snapshots.js';
import { RecordedTurns } from './turnScopes.js';

const uri = 'whetstone-trajectory:/one.trajectory?abc';

/** The editor's side: sends requests, and keeps what comes back. */
class Editor {
  readonly replay = new ScriptedReplay();
  readonly transcript: DebugProtocol.ProtocolMessage[] = [];
  private readonly adapter = new ReplayAdapter(
    () =>
      Promise.resolve({
        title: 'Replay of one',
        uri,
        sections,
        recorded: new RecordedTurns(recordedTrajectory, null),
        snapshots: new Snapshots(this.replay),
      }),
    (message) => this.transcript.push(message),
  );
  private sequence = 1;

  /** The answer's body; rejects with the message of one that failed. */
  async ask<Body = unknown>(command: string, args: object = {}): Promise<Body> {
    const seq = this.sequence++;
    await this.adapter.handle({ seq, type: 'request', command, arguments: args } as DebugProtocol.Request);
    const answers = this.transcript.filter(
      (message): message is DebugProtocol.Response =>
        message.type === 'response' && (message as DebugProtocol.Response).request_seq === seq,
    );
    expect(answers).toHaveLength(1);
    if (!answers[0].success) throw new Error(answers[0].message);
    return answers[0].body as Body;
  }

  /** Sends a request that moves; how the move ended. */
  async move(command: string, args: object = { threadId: 1 }): Promise<string> {
    const from = this.transcript.length;
    await this.ask(command, args);
    for (;;) {
      const [answer, ...events] = this.transcript
        .slice(from)
        .filter((message) => message.type === 'response' || (message as DebugProtocol.Event).event === 'stopped');
      expect(answer.type).toBe('response');
      if (events.length > 0) {
        const { reason, description } = (events[0] as DebugProtocol.StoppedEvent).body;
        return `${reason}: ${description}`;
      }
      await new Promise(setImmediate);
    }
  }

  async start(filters: readonly string[] = []): Promise<string> {
    await this.ask('initialize');
    await this.ask('launch');
    await this.ask('setExceptionBreakpoints', { filters });
    return this.move('configurationDone');
  }

  async frames(): Promise<DebugProtocol.StackFrame[]> {
    return (await this.ask<DebugProtocol.StackTraceResponse['body']>('stackTrace', { threadId: 1 })).stackFrames;
  }

  /** Every value of the top frame, by path. */
  async values(frameId?: number): Promise<Record<string, string>> {
    const id = frameId ?? (await this.frames())[0].id;
    const found: Record<string, string> = {};
    const walk = async (reference: number, above: string) => {
      const args = { variablesReference: reference };
      const { variables } = await this.ask<DebugProtocol.VariablesResponse['body']>('variables', args);
      for (const { name, value, variablesReference } of variables) {
        found[`${above}.${name}`] = value;
        if (variablesReference > 0) await walk(variablesReference, `${above}.${name}`);
      }
    };
    const { scopes } = await this.ask<DebugProtocol.ScopesResponse['body']>('scopes', { frameId: id });
    for (const scope of scopes) await walk(scope.variablesReference, scope.name);
    return found;
  }
}

let editor: Editor;
beforeEach(() => {
  editor = new Editor();
});

describe('a replay as a debug session', () => {
  it('steps turn by turn and stays at the end, so that one can go back', async () => {
    expect(await editor.start()).toBe('entry: Before the first turn');
    expect(editor.replay.played).toBe(0);
    const moves = ['next', 'next', 'stepIn', 'next', 'next', 'stepBack', 'reverseContinue', 'stepBack'];
    const stops: string[] = [];
    for (const move of moves) stops.push(await editor.move(move));
    expect(stops).toEqual([
      'step: At turn 1',
      'step: At turn 2',
      'step: At turn 3',
      'step: At turn 4',
      'end: The episode is over: submitted',
      'step: At turn 3',
      'entry: Before the first turn',
      'entry: Before the first turn',
    ]);
  });

  it('shows at a turn the same on the way back as on the way there, and plays no turn twice', async () => {
    await editor.start();
    const seen: unknown[] = [];
    const look = async () => [await editor.frames(), await editor.values()];
    for (let turn = 0; turn <= 4; turn++) {
      seen.push(await look());
      await editor.move('next');
    }
    const { played } = editor.replay;
    for (let turn = 3; turn >= 0; turn--) {
      await editor.move('stepBack');
      expect(await look()).toEqual(seen[turn]);
    }
    expect(editor.replay.played).toBe(played);
  });

  it('continues to the next failed tool call or divergence, both ways', async () => {
    await editor.start(['failed', 'divergence']);
    expect(await editor.move('continue')).toBe('exception: Divergence from the record');
    const info = await editor.ask<DebugProtocol.ExceptionInfoResponse['body']>('exceptionInfo', { threadId: 1 });
    expect(info.details?.stackTrace).toContain('+Edited a.js');
    expect(await editor.move('continue')).toBe('exception: Failed tool call');
    expect(await editor.move('continue')).toBe('end: The episode is over: submitted');
    expect(await editor.move('reverseContinue')).toBe('exception: Failed tool call');
    expect(await editor.move('reverseContinue')).toBe('exception: Divergence from the record');
    await expect(editor.move('stepBack').then(() => editor.ask('exceptionInfo'))).rejects.toThrow('Nothing went wrong');
  });

  it('stops at breakpoints on turns, wherever in the turn they are set, and on names of tools', async () => {
    await editor.start();
    const lines = [{ line: 1 }, { line: 13 }, { line: 6 }];
    const { breakpoints } = await editor.ask<DebugProtocol.SetBreakpointsResponse['body']>('setBreakpoints', {
      source: { path: uri },
      breakpoints: lines,
    });
    expect(breakpoints.map(({ verified, line }) => [verified, line])).toEqual([
      [false, 1],
      [true, 10],
      [true, 6],
    ]);
    const tools = await editor.ask<DebugProtocol.SetFunctionBreakpointsResponse['body']>('setFunctionBreakpoints', {
      breakpoints: [{ name: ' run_tests ' }, { name: 'fly' }],
    });
    expect(tools.breakpoints.map(({ verified }) => verified)).toEqual([true, false]);
    const other = await editor.ask<DebugProtocol.SetBreakpointsResponse['body']>('setBreakpoints', {
      source: { path: 'whetstone-trajectory:/other.trajectory?other' },
      breakpoints: lines,
    });
    expect(other.breakpoints.every(({ verified }) => !verified)).toBe(true);
    const stops = [await editor.move('continue'), await editor.move('continue'), await editor.move('continue')];
    expect(stops).toEqual([
      'breakpoint: Breakpoint on turn 1',
      'breakpoint: Breakpoint on turn 2',
      'function breakpoint: Breakpoint on run_tests',
    ]);
  });

  it('has the calls of the turn above the turns before it in the stack, at their lines', async () => {
    await editor.start();
    await editor.move('next');
    await editor.move('next');
    expect((await editor.frames()).map(({ name, line }) => [name, line])).toEqual([
      ['edit', 12],
      ['turn 2 · edit a.js', 10],
      ['turn 1 · open a.js', 6],
      ['start', 1],
    ]);
    const part = { threadId: 1, startFrame: 1, levels: 2 };
    const { stackFrames, totalFrames } = await editor.ask<DebugProtocol.StackTraceResponse['body']>('stackTrace', part);
    expect([stackFrames.length, totalFrames]).toEqual([2, 4]);
  });

  it('tells arguments, observations, tokens and reward, in earlier frames too', async () => {
    await editor.start();
    await editor.move('next');
    await editor.move('next');
    const [call, , first] = await editor.frames();
    expect(await editor.values(call.id)).toMatchObject({
      'Call.tool': '"edit"',
      'Call.arguments.path': '"a.js"',
      'Observation.observed': '"Edited a.js"',
      'Observation.recorded': '"Edited b.js"',
      'Observation.same as recorded': 'false',
      'Files.a.js': '"changed"',
      'Files.new.js': '"added"',
      'Tokens.sampled tokens': '2',
      'Tokens.mean log-prob': '-0.5',
      'Reward.reward': '0.35',
      'Reward.tests': '0.25 × 1 = 0.25',
    });
    expect((await editor.values(first.id))['Call.tool']).toBe('"open"');
    const at = { frameId: call.id };
    expect(await editor.ask('evaluate', { expression: 'observed', ...at })).toMatchObject({ result: '"Edited a.js"' });
    expect(await editor.ask('evaluate', { expression: 'arguments.path', context: 'clipboard', ...at })).toMatchObject({
      result: 'a.js',
    });
    await expect(editor.ask('evaluate', { expression: 'nonsense', ...at })).rejects.toThrow(/Nothing here is called/);
  });

  it('jumps to a turn, and back to a frame', async () => {
    await editor.start(['failed', 'divergence']);
    const { targets } = await editor.ask<DebugProtocol.GotoTargetsResponse['body']>('gotoTargets', {
      source: { path: uri },
      line: 14,
    });
    expect(targets).toEqual([{ id: 3, label: 'Turn 3', line: 14 }]);
    expect(await editor.move('goto', { threadId: 1, targetId: 3 })).toBe('goto: At turn 3');
    expect(await editor.move('restartFrame', { frameId: 1000 })).toBe('goto: At turn 1');
  });

  it('answers what it does not know, and what comes too early, with a reason', async () => {
    await expect(editor.ask('fly')).rejects.toThrow('A replay has no request fly.');
    await expect(editor.ask('next')).rejects.toThrow('The replay has not started yet.');
    await expect(editor.ask('stackTrace', {})).rejects.toThrow('The replay has not started yet.');
  });

  it('opens nothing any more where the editor leaves while it opens', async () => {
    const signals: AbortSignal[] = [];
    const answers: DebugProtocol.ProtocolMessage[] = [];
    const adapter = new ReplayAdapter(
      (_, signal) => {
        signals.push(signal);
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new Error('cancelled'))),
        );
      },
      (message) => answers.push(message),
    );
    const launching = adapter.handle({ seq: 1, type: 'request', command: 'launch' } as DebugProtocol.Request);
    await adapter.handle({ seq: 2, type: 'request', command: 'disconnect' } as DebugProtocol.Request);
    await launching;
    expect(signals[0].aborted).toBe(true);
    const outcomes = answers.map((answer) => answer as DebugProtocol.Response);
    expect(new Map(outcomes.map(({ command, success }) => [command, success]))).toEqual(
      new Map([
        ['disconnect', true],
        ['launch', false],
      ]),
    );
  });

  it('fails in one line in which a record makes no link that runs a command, and turns no direction', async () => {
    const answers: DebugProtocol.ProtocolMessage[] = [];
    const hostile = 'No task [quit](command:workbench.action.quit)\n\u001b[2J\u202eman';
    const adapter = new ReplayAdapter(
      () => Promise.reject(new Error(hostile)),
      (message) => answers.push(message),
    );
    await adapter.handle({ seq: 1, type: 'request', command: 'launch' } as DebugProtocol.Request);
    const [{ success, message, body }] = answers as DebugProtocol.ErrorResponse[];
    const shown = 'No task [quit] (command:workbench.action.quit) \\u{1b}[2J\\u{202e}man';
    expect({ success, message, error: body.error }).toEqual({
      success: false,
      message: shown,
      error: { id: 1, format: shown, showUser: true },
    });
  });

  it('is over when the editor leaves', async () => {
    await editor.start();
    await editor.ask('disconnect');
    expect(editor.replay.isClosed).toBe(true);
  });
});

import path from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import * as vscode from 'vscode';
import { badInput } from '../../trajectory/errors.js';
import { Scheme } from '../contributions.js';
import { Lifetime } from '../lifetime.js';
import { lineOf } from '../lineOf.js';
import { pickTrajectory } from '../pickers.js';
import { plainMessage } from '../plainText.js';
import type { RunStore } from '../runs/runStore.js';
import { fromUriQuery, type TrajectoryAddress } from '../trajectory/trajectoryAddress.js';
import { trajectoryUri, type TrajectoryDocuments } from '../trajectory/trajectoryDocuments.js';
import { ReplayAdapter, turnOfFrame, type Debuggee } from './replayAdapter.js';
import { Snapshots } from './snapshots.js';
import { RecordedTurns } from './turnScopes.js';
import { t } from '../translate.js';

export const debugType = 'whetstone-replay';

/** A configuration of `launch.json`, filled in. */
interface ReplayConfiguration extends vscode.DebugConfiguration {
  /** Root of the repository. */
  readonly repository: string;
  readonly run: string;
  readonly trajectory: string;
  /** Turn to go to first. */
  readonly turn?: number;
}

/** A turn of a replay that goes on. */
export interface ReplayPlace {
  readonly sessionId: string;
  readonly turn: number;
  readonly debuggee: Debuggee;
}

/** Replays as debug sessions: starts them, and knows which turn the user looks at. */
export class ReplaySessions
  implements vscode.DebugAdapterDescriptorFactory, vscode.DebugConfigurationProvider, vscode.Disposable
{
  private readonly lifetime = new Lifetime('replay sessions');
  private readonly adapters = new Map<string, ReplayAdapter>();
  private readonly moved = this.lifetime.add(new vscode.EventEmitter<void>());

  /** Another turn is looked at, or none any more. */
  readonly onDidMove = this.moved.event;

  constructor(
    private readonly store: RunStore,
    private readonly documents: TrajectoryDocuments,
    private readonly cli: string,
  ) {
    this.lifetime.add(vscode.debug.registerDebugAdapterDescriptorFactory(debugType, this));
    this.lifetime.add(vscode.debug.registerDebugConfigurationProvider(debugType, this));
    this.lifetime.add(vscode.debug.onDidChangeActiveStackItem(() => this.moved.fire()));
    this.lifetime.add(vscode.debug.onDidChangeActiveDebugSession(() => this.moved.fire()));
    this.lifetime.add(
      vscode.debug.onDidTerminateDebugSession(({ id }) => {
        if (this.adapters.delete(id)) this.moved.fire();
      }),
    );
  }

  /** Starts a session, or takes the one of this trajectory that goes on to the turn, in the view of debugging. */
  async start(address: TrajectoryAddress, turn = 0): Promise<void> {
    await vscode.commands.executeCommand('workbench.view.debug');
    const uri = trajectoryUri(address).toString();
    const [running] = [...this.adapters].find(([, { opened }]) => opened?.uri === uri) ?? [];
    const session = running === vscode.debug.activeDebugSession?.id ? vscode.debug.activeDebugSession : undefined;
    if (session) await session.customRequest('goto', { threadId: 1, targetId: turn });
    else await this.launch(address, turn);
  }

  /** Fills in what a configuration leaves out: the trajectory that is open, else one that the user picks. */
  async resolveDebugConfiguration(
    folder: vscode.WorkspaceFolder | undefined,
    given: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    const { run, trajectory } = given as Partial<ReplayConfiguration>;
    const base = { ...given, type: debugType, request: 'launch' };
    if (run !== undefined && trajectory !== undefined) {
      const repository: unknown = given.repository ?? folder?.uri.fsPath;
      return { ...base, name: given.name || nameOf(trajectory), repository };
    }
    const open = vscode.window.activeTextEditor?.document.uri;
    const address = open?.scheme === Scheme.Trajectory ? fromUriQuery(open.query) : await pickTrajectory(this.store);
    if (!address) return undefined;
    const { stateFolder, runId, trajectoryId } = address;
    const repository = path.dirname(stateFolder);
    return { ...base, name: nameOf(trajectoryId), repository, run: runId, trajectory: trajectoryId };
  }

  createDebugAdapterDescriptor({ id, name }: vscode.DebugSession): vscode.DebugAdapterDescriptor {
    const messages = new vscode.EventEmitter<vscode.DebugProtocolMessage>();
    const adapter = new ReplayAdapter(
      (args, signal) => this.open(name, args, signal),
      (message) => messages.fire(message),
    );
    this.adapters.set(id, adapter);
    return new vscode.DebugAdapterInlineImplementation({
      onDidSendMessage: messages.event,
      handleMessage: (message) => void adapter.handle(message as DebugProtocol.ProtocolMessage),
      dispose: () => {
        messages.dispose();
        void adapter.dispose();
      },
    });
  }

  /** The turn of the stack frame that is selected, or where its replay stands; undefined where none goes on. */
  get place(): ReplayPlace | undefined {
    const item = vscode.debug.activeStackItem;
    const session = item?.session ?? vscode.debug.activeDebugSession;
    const adapter = session && this.adapters.get(session.id);
    if (!session || !adapter?.opened) return undefined;
    const turn = item instanceof vscode.DebugStackFrame ? turnOfFrame(item.frameId) : adapter.turn;
    return { sessionId: session.id, turn, debuggee: adapter.opened };
  }

  /** The snapshots of a session that goes on. */
  snapshots(sessionId: string): Snapshots | undefined {
    return this.adapters.get(sessionId)?.opened?.snapshots;
  }

  dispose(): void {
    for (const adapter of this.adapters.values()) void adapter.dispose();
    this.lifetime.dispose();
  }

  private async launch({ stateFolder, runId, trajectoryId }: TrajectoryAddress, turn: number): Promise<void> {
    const repository = path.dirname(stateFolder);
    const name = nameOf(trajectoryId);
    const configuration: ReplayConfiguration = {
      ...{ type: debugType, request: 'launch', name },
      ...{ repository, run: runId, trajectory: trajectoryId, turn },
    };
    const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(repository));
    await vscode.debug.startDebugging(folder, configuration);
  }

  private async open(name: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Debuggee> {
    const { repository, run, trajectory } = args;
    if (typeof repository !== 'string' || typeof run !== 'string' || typeof trajectory !== 'string') {
      throw badInput(t('A replay needs `repository`, `run` and `trajectory`.'), t('Start it from the Runs view.'));
    }
    try {
      const { openSteppedReplay } = await import('../engine.js');
      const address = { stateFolder: path.join(repository, '.whetstone'), runId: run, trajectoryId: trajectory };
      const uri = trajectoryUri(address);
      const { sections, learned, trajectory: record } = await this.documents.of(uri);
      const request = { cli: this.cli, repoRoot: repository, runId: run, trajectoryId: trajectory };
      const snapshots = new Snapshots(await openSteppedReplay(request, signal));
      const recorded = new RecordedTurns(record, learned);
      return { title: name, uri: uri.toString(), sections, recorded, snapshots };
    } catch (error) {
      throw new Error(lineOf(error), { cause: error });
    }
  }
}

/** What the editor calls the session, in views and in messages. */
const nameOf = (trajectoryId: string): string => plainMessage(t('Replay of {0}', trajectoryId));

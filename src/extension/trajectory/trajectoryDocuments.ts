import * as vscode from 'vscode';
import type { RunReader } from '../../trainer/run/runReader.js';
import type { TextCodec } from '../../trainer/text/textCodec.js';
import type { LearnedTokens, Trajectory } from '../../trajectory/trajectory.js';
import { Scheme } from '../contributions.js';
import { Lifetime } from '../lifetime.js';
import { lineOf } from '../lineOf.js';
import type { RunStore } from '../runs/runStore.js';
import type { LossSettings } from './tokenFacts.js';
import { fromUriQuery, toUriParts, type TrajectoryAddress } from './trajectoryAddress.js';
import { layOut, type TrajectoryText } from './trajectoryText.js';

type Tokenizer = Pick<TextCodec, 'tokenTexts' | 'decode'>;

/** A trajectory that is open in an editor. */
export interface OpenTrajectory extends TrajectoryText {
  readonly address: TrajectoryAddress;
  readonly trajectory: Trajectory;
  /** Null until the learner has seen it. */
  readonly learned: LearnedTokens | null;
  /** How the run learns; null where its record does not say. */
  readonly settings: LossSettings | null;
}

export function trajectoryUri(address: TrajectoryAddress): vscode.Uri {
  return vscode.Uri.from({ scheme: Scheme.Trajectory, ...toUriParts(address) });
}

/** The text of trajectories for the editor, and what stands behind it while a document is open. */
export class TrajectoryDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly lifetime = new Lifetime('trajectory documents');
  private readonly open = new Map<string, Promise<OpenTrajectory>>();
  /** The tokenizer of the run that was last looked into, while anything of it is open: a large one takes its time to read. */
  private tokenizer?: { readonly reader: RunReader; readonly loading: Promise<Tokenizer> };
  private readonly learnedEmitter = this.lifetime.add(new vscode.EventEmitter<void>());

  /** The learner has found out something about an open trajectory. */
  readonly onDidLearn = this.learnedEmitter.event;

  constructor(
    private readonly store: RunStore,
    private readonly embeddedModel: string,
  ) {
    this.lifetime.add(vscode.workspace.registerTextDocumentContentProvider(Scheme.Trajectory, this));
    this.lifetime.add(vscode.workspace.onDidCloseTextDocument(({ uri }) => this.closed(uri)));
    this.lifetime.add(store.onDidChange(() => void this.lookForLearned().catch(() => undefined)));
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    try {
      return (await this.of(uri)).text;
    } catch (error) {
      this.closed(uri);
      throw new Error(lineOf(error), { cause: error });
    }
  }

  of(uri: vscode.Uri): Promise<OpenTrajectory> {
    const key = uri.toString();
    const opened = this.open.get(key) ?? this.load(fromUriQuery(uri.query));
    this.open.set(key, opened);
    return opened;
  }

  dispose(): void {
    this.lifetime.dispose();
  }

  private closed(uri: vscode.Uri): void {
    this.open.delete(uri.toString());
    if (this.open.size === 0) this.tokenizer = undefined;
  }

  private async load(address: TrajectoryAddress): Promise<OpenTrajectory> {
    const reader = await this.store.reader(address.stateFolder, address.runId);
    const [trajectory, learned, settings, tokenizer] = await Promise.all([
      reader.trajectory(address.trajectoryId),
      reader.learned(address.trajectoryId),
      reader.config().then(
        (config) => config.settings,
        () => null,
      ),
      this.tokenizerOf(reader),
    ]);
    return { address, trajectory, learned, settings, ...layOut(trajectory, tokenizer) };
  }

  private async tokenizerOf(reader: RunReader): Promise<Tokenizer> {
    const { loadRunTokenizer } = await import('../engine.js');
    const known = this.tokenizer?.reader === reader ? this.tokenizer : undefined;
    const tokenizer = known ?? { reader, loading: loadRunTokenizer(reader, () => this.embeddedModel) };
    this.tokenizer = tokenizer;
    tokenizer.loading.catch(() => {
      if (this.tokenizer === tokenizer) this.tokenizer = undefined;
    });
    return tokenizer.loading;
  }

  private async lookForLearned(): Promise<void> {
    for (const [key, opening] of [...this.open]) {
      const opened = await opening.catch(() => undefined);
      if (!opened || opened.learned || opened.trajectory.kind !== 'rollout') continue;
      const { stateFolder, runId, trajectoryId } = opened.address;
      const learned = await (await this.store.reader(stateFolder, runId)).learned(trajectoryId);
      if (!learned || !this.open.has(key)) continue;
      this.open.set(key, Promise.resolve({ ...opened, learned }));
      this.learnedEmitter.fire();
    }
  }
}

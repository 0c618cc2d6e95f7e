import * as vscode from 'vscode';
import { Scheme, View } from '../contributions.js';
import { Lifetime } from '../lifetime.js';
import { plainLine } from '../plainText.js';
import { visibleText } from '../trajectory/visibleText.js';
import { fromFileUriQuery, toFileUriParts, type ReplayFileAddress } from './replayFileAddress.js';
import { fileTree, type FileNode, type FolderNode, type ReplayFileNode } from './replayFileTree.js';
import type { ReplayPlace, ReplaySessions } from './replaySessions.js';
import type { Place } from './snapshots.js';
import { t } from '../translate.js';

/** What a turn's files are held against. */
export type Against = 'start' | 'previous' | 'oracle';

/** The files of the turn that is looked at: as a tree beside the call stack, as documents, and against other states. */
export class ReplayFiles
  implements vscode.TreeDataProvider<ReplayFileNode>, vscode.TextDocumentContentProvider, vscode.Disposable
{
  private readonly lifetime = new Lifetime('replay files');
  private readonly changed = this.lifetime.add(new vscode.EventEmitter<void>());
  private readonly view: vscode.TreeView<ReplayFileNode>;
  private shown = '';

  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly sessions: ReplaySessions) {
    this.lifetime.add(vscode.workspace.registerTextDocumentContentProvider(Scheme.ReplayFile, this));
    this.view = this.lifetime.add(
      vscode.window.createTreeView(View.ReplayFiles, { treeDataProvider: this, showCollapseAll: true }),
    );
    this.lifetime.add(sessions.onDidMove(() => this.refresh()));
  }

  getTreeItem(node: ReplayFileNode): vscode.TreeItem {
    return node.kind === 'folder' ? folderItem(node) : this.fileItem(node);
  }

  getChildren(node?: ReplayFileNode): ReplayFileNode[] {
    if (node) return node.kind === 'folder' ? [...node.children] : [];
    const { place } = this.sessions;
    return place ? [...fileTree(place.debuggee.snapshots, place.turn).children] : [];
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const address = fromFileUriQuery(uri.query);
    const snapshots = address && this.sessions.snapshots(address.sessionId);
    if (!snapshots) return t('This replay is over. Step through the trajectory again to see its files.');
    return visibleText((await snapshots.text(address.place, address.path)) ?? '');
  }

  /** Arguments of `vscode.changes`: the files that differ between the turn that is looked at and another state. */
  comparison(against: Against): { title: string; files: [vscode.Uri, vscode.Uri, vscode.Uri][] } | undefined {
    const { place } = this.sessions;
    if (!place) return undefined;
    const from = placeOf(against, place.turn);
    const files = place.debuggee.snapshots.differences(from, place.turn).map(({ path }) => {
      const [left, right] = this.sides(place, from, path);
      return [right, left, right] satisfies [vscode.Uri, vscode.Uri, vscode.Uri];
    });
    return { title: `${nameOf(from)} ↔ ${nameOf(place.turn)}`, files };
  }

  dispose(): void {
    this.lifetime.dispose();
  }

  private sides({ sessionId, turn }: ReplayPlace, from: Place, path: string): [vscode.Uri, vscode.Uri] {
    return [fileUri({ sessionId, place: from, path }), fileUri({ sessionId, place: turn, path })];
  }

  private fileItem({ name, path, change }: FileNode): vscode.TreeItem {
    const { place } = this.sessions;
    const item = new vscode.TreeItem(visibleText(name));
    item.description = change && words[change]();
    item.tooltip = new vscode.MarkdownString().appendText(change ? `${path} (${words[change]()})` : path);
    item.accessibilityInformation = { label: change ? `${visibleText(name)}, ${words[change]()}` : visibleText(name) };
    if (!place) return item;
    const [start, now] = this.sides(place, 0, path);
    item.resourceUri = now;
    item.contextValue = change ? `replayFile.${change}` : 'replayFile';
    item.command = change
      ? {
          command: 'vscode.diff',
          title: t('Compare'),
          arguments: [start, now, plainLine(`${name}: ${nameOf(0)} ↔ ${nameOf(place.turn)}`)],
        }
      : { command: 'vscode.open', title: t('Open'), arguments: [now] };
    return item;
  }

  /** Only where another turn is looked at, so that folders stay as they are unfolded. */
  private refresh(): void {
    const { place } = this.sessions;
    const shown = place ? `${place.sessionId} ${place.turn}` : '';
    this.view.description = place && nameOf(place.turn);
    if (shown === this.shown) return;
    this.shown = shown;
    this.changed.fire();
  }
}

function folderItem({ name, path, changes }: FolderNode): vscode.TreeItem {
  const state = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(visibleText(name), changes > 0 ? state.Expanded : state.Collapsed);
  item.id = path;
  item.iconPath = vscode.ThemeIcon.Folder;
  item.description = changes > 0 ? t('{0} changed', changes) : undefined;
  return item;
}

const words = { added: () => t('added'), removed: () => t('removed'), changed: () => t('changed') } as const;

const fileUri = (address: ReplayFileAddress) =>
  vscode.Uri.from({ scheme: Scheme.ReplayFile, ...toFileUriParts(address) });

function placeOf(against: Against, turn: number): Place {
  if (against === 'previous') return Math.max(0, turn - 1);
  return against === 'start' ? 0 : 'oracle';
}

function nameOf(place: Place): string {
  if (place === 'oracle') return t('oracle');
  return place === 0 ? t('start') : t('turn {0}', place);
}

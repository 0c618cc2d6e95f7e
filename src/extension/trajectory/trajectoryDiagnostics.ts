import * as vscode from 'vscode';
import { Scheme } from '../contributions.js';
import { Lifetime } from '../lifetime.js';
import { lintMask } from './maskLint.js';
import type { TrajectoryDocuments } from './trajectoryDocuments.js';

const severities = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
} as const;

/** What the editor needs to show a document that was opened; the check of a long one would have it wait. */
const showMilliseconds = 300;

/** Problems of the mask of every open trajectory, in the editor and the Problems view. */
export class TrajectoryDiagnostics implements vscode.Disposable {
  private readonly lifetime = new Lifetime('trajectory diagnostics');
  private readonly collection = this.lifetime.add(vscode.languages.createDiagnosticCollection('whetstone'));

  constructor(private readonly documents: TrajectoryDocuments) {
    this.lifetime.add(vscode.workspace.onDidOpenTextDocument((document) => this.look(document)));
    this.lifetime.add(vscode.workspace.onDidCloseTextDocument(({ uri }) => this.collection.delete(uri)));
    this.lifetime.add(documents.onDidLearn(() => this.lookAtAll()));
    this.lookAtAll();
  }

  dispose(): void {
    this.lifetime.dispose();
  }

  private lookAtAll(): void {
    for (const document of vscode.workspace.textDocuments) this.look(document);
  }

  private look(document: vscode.TextDocument): void {
    if (document.uri.scheme !== Scheme.Trajectory) return;
    const own = this.lifetime.child('check');
    const timer = setTimeout(() => {
      own.dispose();
      // A document that could not be loaded has no tokens to check; its editor says why.
      void this.check(document).catch(() => undefined);
    }, showMilliseconds);
    own.add({ dispose: () => clearTimeout(timer) });
  }

  private async check(document: vscode.TextDocument): Promise<void> {
    if (document.isClosed) return;
    const opened = await this.documents.of(document.uri);
    const problems = lintMask(opened, opened.trajectory.kind === 'demonstration');
    if (document.isClosed) return;
    this.collection.set(
      document.uri,
      problems.map(({ start, end, severity, rule, message }) => {
        const range = new vscode.Range(document.positionAt(start), document.positionAt(end));
        const diagnostic = new vscode.Diagnostic(range, message, severities[severity]);
        diagnostic.source = 'Whetstone';
        diagnostic.code = rule;
        return diagnostic;
      }),
    );
  }
}

import * as vscode from 'vscode';
import type { TrajectoryAddress } from './trajectory/trajectoryAddress.js';
import { trajectoryUri, type OpenTrajectory, type TrajectoryDocuments } from './trajectory/trajectoryDocuments.js';

/** A place in a trajectory: a token (counted from the trajectory's first), a turn (1-based), or a message (0-based). */
export type Place = { readonly token: number } | { readonly turn: number } | { readonly message: number };

/** Opens a trajectory with the cursor at a place of it; one that it does not have leaves the cursor alone. */
export async function revealTrajectory(
  trajectories: TrajectoryDocuments,
  address: TrajectoryAddress,
  place?: Place,
  options: vscode.TextDocumentShowOptions = {},
): Promise<void> {
  const uri = trajectoryUri(address);
  const editor = await vscode.window.showTextDocument(uri, options);
  const range = place && rangeOf(editor.document, await trajectories.of(uri), place);
  if (!range) return;
  editor.selection = new vscode.Selection(range.start, range.end);
  const isToken = 'token' in place;
  editor.revealRange(range, isToken ? vscode.TextEditorRevealType.InCenter : vscode.TextEditorRevealType.AtTop);
}

function rangeOf(
  document: vscode.TextDocument,
  { tokens, sections }: OpenTrajectory,
  place: Place,
): vscode.Range | undefined {
  if ('token' in place) {
    const token = tokens.find(({ index }) => index === place.token);
    return token && new vscode.Range(document.positionAt(token.start), document.positionAt(token.end));
  }
  const section =
    'turn' in place
      ? sections.find(({ role, turn }) => role === 'agent' && turn === place.turn)
      : sections.at(place.message);
  return section && new vscode.Range(section.headerLine, 0, section.headerLine, 0);
}

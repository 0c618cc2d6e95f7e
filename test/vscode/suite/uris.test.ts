import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import * as vscode from 'vscode';
import { fromFileUriQuery, toFileUriParts } from '../../../src/extension/debug/replayFileAddress.js';
import { fromSideQuery, toSideUri } from '../../../src/extension/tasks/sideAddress.js';
import { fromUriQuery } from '../../../src/extension/trajectory/trajectoryAddress.js';
import { trajectoryUri } from '../../../src/extension/trajectory/trajectoryDocuments.js';

const roots = [
  'C:\\Users\\Zoë 中\\#1 50%\\.whetstone',
  '\\\\server\\share\\a repo\\.whetstone',
  "/home/it's/100%25 #2?x=1&y=2/.whetstone",
];

describe('URIs of documents', () => {
  it('come back whole through the editor, with drive letters, UNC paths, # and %', () => {
    for (const stateFolder of roots) {
      const address = { stateFolder, runId: 'run-1', trajectoryId: 'step-000001/räng e #1 50%/0' };
      const uri = vscode.Uri.parse(trajectoryUri(address).toString(), true);
      assert.deepEqual(fromUriQuery(uri.query), address);
    }
    for (const path of ['src/a b#1 50%.ts', 'c:\\x.js', '\\\\server\\x.js', 'é/中?.go']) {
      const parts = toFileUriParts({ sessionId: 'session', place: 2, path });
      const uri = vscode.Uri.parse(vscode.Uri.from({ scheme: 'whetstone-replay-file', ...parts }).toString(), true);
      assert.equal(fromFileUriQuery(uri.query)?.path, path);
      const side = {
        root: roots[1],
        taskId: 'a/b',
        runId: '',
        trajectoryId: '',
        what: 'oracle',
        side: 'after',
      } as const;
      const sideUri = vscode.Uri.from({ scheme: 'whetstone-task', ...toSideUri({ ...side, file: path }) });
      assert.deepEqual(fromSideQuery(vscode.Uri.parse(sideUri.toString(), true).query), { ...side, file: path });
    }
  });
});

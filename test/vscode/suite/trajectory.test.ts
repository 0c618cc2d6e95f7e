import assert from 'node:assert/strict';
import { after, before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { trajectoryUri } from '../../../src/extension/trajectory/trajectoryDocuments.js';
import type { Paint } from '../../../src/extension/trajectory/tokenColours.js';
import { RecordedRun } from '../fixtures/recordedRun.js';
import { activated, eventually, repoRoot } from './support.js';

describe('A trajectory in an editor', () => {
  let run: RecordedRun;
  let document: vscode.TextDocument;
  const task = 'sum-adds__off-by-one__räng e.js_9';

  before(async () => {
    run = await RecordedRun.create(repoRoot(), 'run-2', 1);
    run.evaluate(0);
    run.step(1);
    await run.end('completed');
    document = await vscode.workspace.openTextDocument(uriOf(`step-000001/${task}/0`));
    await vscode.window.showTextDocument(document);
  });
  after(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  // As the product makes it; the suite's own bundle only builds the address.
  const uriOf = (trajectoryId: string) =>
    trajectoryUri({ stateFolder: run.stateFolder, runId: run.config.runId, trajectoryId });

  const hoverAt = async (text: string) => {
    const position = document.positionAt(document.getText().indexOf(text));
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      'vscode.executeHoverProvider',
      document.uri,
      position,
    );
    return hovers
      .flatMap((hover) => hover.contents)
      .map((content) => (content as vscode.MarkdownString).value.replaceAll('&nbsp;', ' '))
      .join('\n');
  };

  it('shows the tokens end to end, under a line for each message', () => {
    const text = document.getText();
    const lines = text.split('\n');
    assert.equal(lines[0], `━━ ${task} · rollout 1 of step 1 · solved · reward 1.20 ━━`);
    assert.deepEqual(
      lines.filter((line) => line.startsWith('── ')),
      [
        '── system ──',
        '── user ──',
        '── turn 1 · agent · open ──',
        '── turn 1 · observation · open ──',
        '── turn 2 · agent · submit ──',
        '── turn 2 · observation · submit ──',
      ],
    );
    assert.ok(text.includes('<|im_start|>user\nthe tests of sum.js fail: mend the code so that they pass<|im_end|>'));
    assert.ok(
      text.includes('Let me look.\n<tool_call>\n{"name": "open", "arguments": {"path": "sum.js"}}\n</tool_call>'),
    );
  });

  it('shows hostile text as text, and whole the characters that are split over tokens', () => {
    const text = document.getText();
    assert.ok(text.includes('<img src=x onerror=alert(1)> [quit](command:workbench.action.quit) \\u{202e}gnirts'));
    assert.ok(text.includes('ok é ✓ 😀 tab\there\\u{d}\n'));
    assert.ok(!text.includes('\u202e'));
  });

  it('is read-only', async () => {
    const before = document.getText();
    await vscode.commands.executeCommand('type', { text: 'x' });
    assert.equal(document.getText(), before);
  });

  it("tells a token's whole story in a hover", async () => {
    const hover = await hoverAt('Let me look');
    for (const part of [
      '**role** agent',
      '**mask** 1',
      '**log\\-prob**',
      '**advantage** 1',
      '**coefficient** \\-0',
      '**coefficient formula**',
    ]) {
      assert.ok(hover.includes(part.replaceAll('log\\-prob', 'log-prob')), `${part} in ${hover}`);
    }
    assert.match(hover, /\*\*entropy\*\* 0\.25/);
  });

  it('says in a hover why a value is absent', async () => {
    const hover = await hoverAt('the tests of sum.js fail');
    assert.match(hover, /\*\*role\*\* prompt/);
    assert.match(hover.replaceAll('\\', ''), /\*\*advantage\*\* none: not sampled by the policy/);
  });

  it('keeps what a token spells out of the markdown of its hover', async () => {
    const hover = await hoverAt('[quit](command:');
    assert.ok(!/[^\\]\[quit\]\(command:/.test(hover), hover);
    assert.ok(!hover.includes('<img'), hover);
  });

  it('tells agent, observation and prompt tokens apart', async () => {
    const { decorations } = await activated();
    const painted = await decorations.stretches(document.uri, 'mask');
    const textsOf = (paint: Paint) =>
      painted
        .get(paint)!
        .map(({ start, end }) =>
          document.getText(new vscode.Range(document.positionAt(start), document.positionAt(end))),
        );
    assert.equal(textsOf('agent').length, 2);
    assert.ok(textsOf('agent')[0].startsWith('Let me look.') && textsOf('agent')[0].endsWith('<|im_end|>'));
    assert.ok(textsOf('observation')[0].startsWith('<|im_start|>tool\n1\texport const sum'));
    assert.ok(textsOf('prompt').every((text) => text.startsWith('<|im_start|>')));
    const covered = [...painted.values()].flat().reduce((sum, { start, end }) => sum + end - start, 0);
    const headers = document
      .getText()
      .split('\n')
      .filter((line) => /^(──|━━) /.test(line));
    const rest = document.getText().length - headers.reduce((sum, line) => sum + line.length + 1, 0) - covered;
    assert.equal(rest, 2, 'beside tokens and header lines only the line ends after the two turns are left');
  });

  it('colours by advantage and by log-prob where asked', async () => {
    const { decorations } = await activated();
    const byAdvantage = await decorations.stretches(document.uri, 'advantage');
    assert.ok(byAdvantage.get('positiveMedium')!.length > 0);
    assert.equal(byAdvantage.get('negativeMedium')!.length, 0);
    const byLogprob = await decorations.stretches(document.uri, 'log-prob');
    assert.ok(byLogprob.get('negativeStrong')!.length > 0);
  });

  it('says in the status bar what the colour of the token under the cursor means', async () => {
    const { tokenStatus } = await activated();
    const editor = await vscode.window.showTextDocument(document);
    const put = (text: string) => {
      const position = document.positionAt(document.getText().indexOf(text));
      editor.selection = new vscode.Selection(position, position);
    };
    put('the tests of sum.js fail');
    await eventually(() => assert.equal(tokenStatus.text, '$(symbol-color) prompt, mask 0'));
    put('Let me look');
    await eventually(() => assert.equal(tokenStatus.text, '$(symbol-color) agent, mask 1'));
  });

  it('finds where learner and sampler disagree beyond rounding, as a problem', async () => {
    await eventually(() => {
      const problems = vscode.languages.getDiagnostics(document.uri);
      assert.ok(problems.some(({ code, source }) => code === 'sampler-learner' && source === 'Whetstone'));
      assert.ok(problems.every(({ severity }) => severity === vscode.DiagnosticSeverity.Warning));
    });
  });

  it('has a lens for the reward, and some on each turn: to replay to it, step, branch and take over from it', async () => {
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      'vscode.executeCodeLensProvider',
      document.uri,
    );
    const shown = lenses.map(({ range, command }) => [
      document.lineAt(range.start.line).text.slice(0, 12),
      command?.title,
    ]);
    assert.deepEqual(shown, [
      ['━━ sum-adds_', 'Reward 1.200 = tests 1.00 × 1 + format 1.00 × 0.1'],
      ['── turn 1 · ', '$(debug-step-over) Replay to here'],
      ['── turn 1 · ', '$(debug-alt) Step from here'],
      ['── turn 1 · ', '$(git-branch) Branch here'],
      ['── turn 1 · ', '$(person) Take over'],
      ['── turn 2 · ', '$(debug-step-over) Replay to here'],
      ['── turn 2 · ', '$(debug-alt) Step from here'],
      ['── turn 2 · ', '$(git-branch) Branch here'],
      ['── turn 2 · ', '$(person) Take over'],
    ]);
  });

  it('folds by turn', async () => {
    const folds = await vscode.commands.executeCommand<vscode.FoldingRange[]>(
      'vscode.executeFoldingRangeProvider',
      document.uri,
    );
    const starts = folds.map((fold) => document.lineAt(fold.start).text);
    assert.ok(starts.includes('── turn 1 · agent · open ──') && starts.includes('── turn 1 · observation · open ──'));
    const turn = folds.find((fold) => document.lineAt(fold.start).text.startsWith('── turn 1 · agent'));
    assert.match(document.lineAt(turn!.end + 1).text, /^── turn 2 · agent/);
  });

  it('opens from the command at a turn', async () => {
    const { tree } = await activated();
    const runs = await tree.getChildren();
    let node = runs.find((candidate) => candidate.kind === 'run' && candidate.summary.id === 'run-2');
    for (const kind of ['rollout', 'task', 'trajectory'] as const) {
      const children = await tree.getChildren(node);
      node =
        kind === 'rollout' ? children.find((child) => child.kind === 'phase' && child.phase === kind) : children[0];
    }
    const [, second] = await tree.getChildren(node);
    await vscode.commands.executeCommand('whetstone.openTrajectory', second);
    await eventually(() => {
      const editor = vscode.window.activeTextEditor;
      assert.equal(editor?.document.lineAt(editor.selection.active.line).text, '── turn 2 · agent · submit ──');
    });
  });

  it('shows what the learner finds out while the document is open', async () => {
    const growing = await RecordedRun.create(repoRoot(), 'run-4', 1);
    const rollout = growing.rollout(1, task, 0);
    document = await vscode.workspace.openTextDocument(
      trajectoryUri({ stateFolder: growing.stateFolder, runId: 'run-4', trajectoryId: rollout.id }),
    );
    await vscode.window.showTextDocument(document);
    assert.match(await hoverAt('Let me look'), /not learned from yet/);
    growing.learn(rollout);
    await eventually(async () => assert.match(await hoverAt('Let me look'), /\*\*advantage\*\* 1/));
    await growing.end('completed');
  });

  it('says in one line why a trajectory cannot be shown', async () => {
    await assert.rejects(
      Promise.resolve(vscode.workspace.openTextDocument(uriOf('step-000009/none/0'))),
      /Run run-2 has no trajectory "step-000009\/none\/0"/,
    );
  });
});

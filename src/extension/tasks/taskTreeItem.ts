import * as vscode from 'vscode';
import type { Exclusion } from '../../env/tasks/excludedTasks.js';
import { Command } from '../contributions.js';
import { finishedItem } from '../treeItems.js';
import {
  childrenOfTask,
  difficultyInWords,
  kindOfTask,
  sizeOfPatch,
  type KnownTask,
  type TaskTreeNode,
} from './taskTree.js';
import { t } from '../translate.js';

/** How a node of the view of tasks shows. */
export function taskTreeItem(node: TaskTreeNode): vscode.TreeItem {
  return finishedItem(describe(node), node.id);
}

function describe(node: TaskTreeNode): vscode.TreeItem {
  const { Collapsed, None } = vscode.TreeItemCollapsibleState;
  const make = (label: string, icon: string, state = None) => {
    const item = new vscode.TreeItem(label, state);
    item.iconPath = new vscode.ThemeIcon(icon);
    return item;
  };
  switch (node.kind) {
    case 'knownTask': {
      const { task, exclusion } = node;
      const icon = exclusion ? 'circle-slash' : task.whetstone.source === 'history' ? 'git-commit' : 'bug';
      const item = make(task.instance_id, icon, Collapsed);
      const parts = [kindOfTask(task), task.whetstone.split, triedInWords(node)];
      item.description = [...(exclusion ? [exclusionInWords(exclusion)] : []), ...parts].join(' · ');
      item.tooltip = tooltipOf(node);
      item.contextValue = exclusion ? 'knownTask.excluded' : 'knownTask.included';
      return item;
    }
    case 'statement': {
      const item = make(t('Statement'), 'note');
      item.description = node.parent.task.problem_statement.replace(/\s+/g, ' ').trim().slice(0, 200);
      item.command = { command: Command.OpenStatement, title: t('Open Statement'), arguments: [node.parent] };
      return item;
    }
    case 'patch': {
      const { task } = node.parent;
      const isOracle = node.which === 'oracle';
      const { added, removed, files } = sizeOfPatch(isOracle ? task.patch : task.whetstone.start_patch);
      const label = isOracle ? t('Oracle') : task.whetstone.source === 'history' ? t('Tests of the commit') : t('Bug');
      const item = make(label, isOracle ? 'key' : 'diff');
      item.description =
        files === 1 ? t('+{0} −{1} in 1 file', added, removed) : t('+{0} −{1} in {2} files', added, removed, files);
      const [command, title] = isOracle
        ? [Command.OpenOracle, t('Open Oracle')]
        : [Command.OpenStartPatch, t('Open What Makes the Start Tree')];
      item.command = { command, title, arguments: [node.parent] };
      return item;
    }
    case 'tests': {
      const count = node.parent.task[node.which].length;
      const item = make(node.which, node.which === 'FAIL_TO_PASS' ? 'error' : 'pass', count === 0 ? None : Collapsed);
      item.description = count === 1 ? t('1 test') : t('{0} tests', count);
      item.contextValue = 'tests';
      return item;
    }
    case 'testPage':
      return make(
        t('{0} to {1}', node.start + 1, node.start + childrenOfTask(node).length),
        'list-unordered',
        Collapsed,
      );
    case 'test': {
      const item = make(node.test.replace(/\s+/g, ' '), 'beaker');
      item.tooltip = node.test;
      item.contextValue = 'test';
      return item;
    }
  }
}

const triedInWords = ({ record }: KnownTask) =>
  record.played === 0
    ? t('not tried')
    : t('solved {0} of {1} ({2} %)', record.solved, record.played, Math.round((100 * record.solved) / record.played));

const exclusionInWords = ({ reason }: Exclusion) => (reason === '' ? t('excluded') : t('excluded: {0}', reason));

function tooltipOf(known: KnownTask): string {
  const { task, record, repository, exclusion } = known;
  const { source, split, runner, site, bugs } = task.whetstone;
  const sites = bugs ?? (site ? [site] : []);
  return [
    task.instance_id,
    ...(exclusion ? [exclusionInWords(exclusion)] : []),
    t('Source: {0}, kind: {1}, split: {2}, runner: {3}', source, kindOfTask(task), split, runner),
    t('Difficulty: {0}, {1}', difficultyInWords(record), triedInWords(known)),
    `FAIL_TO_PASS: ${task.FAIL_TO_PASS.length}, PASS_TO_PASS: ${task.PASS_TO_PASS.length}`,
    ...sites.map(({ file, line }) => t('Bug: {0}', `${file}:${line}`)),
    t('Repository: {0}', repository.name),
  ].join('\n');
}

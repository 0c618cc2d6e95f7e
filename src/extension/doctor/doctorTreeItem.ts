import * as vscode from 'vscode';
import { Command } from '../contributions.js';
import { finishedItem } from '../treeItems.js';
import { countInWords, isCritical } from '../runs/foundFindings.js';
import { shortTime, statusWord } from '../runs/runTreeItem.js';
import { evidenceAddress, type DoctorNode, type FindingNode } from './doctorTree.js';
import { ofEngine, t } from '../translate.js';

/** How a node shows: severity is told by icon and by word, never by colour alone. */
export function doctorTreeItem(node: DoctorNode): vscode.TreeItem {
  return finishedItem(describe(node), node.id);
}

function describe(node: DoctorNode): vscode.TreeItem {
  switch (node.kind) {
    case 'examinedRun': {
      const { summary, repository, findings } = node.run;
      const healthy = findings.length === 0;
      const { Expanded, None } = vscode.TreeItemCollapsibleState;
      const item = new vscode.TreeItem(shortTime(summary.createdAt), healthy ? None : Expanded);
      item.iconPath = healthy ? new vscode.ThemeIcon('pass') : severityIcon(findings.some(isCritical));
      item.description = `${healthy ? t('nothing found so far') : countInWords(findings)} · ${statusWord(summary.status)} · ${repository.name}`;
      item.contextValue = 'examinedRun';
      return item;
    }
    case 'finding':
      return findingItem(node);
    case 'evidence': {
      const item = leaf(t('Seen first: {0}', node.text), 'search');
      item.contextValue = 'evidence';
      if (evidenceAddress(node.parent)) {
        item.command = { command: Command.OpenEvidence, title: t('Open Evidence'), arguments: [node] };
      }
      return item;
    }
    case 'cause':
      return leaf(t('Maybe: {0}', node.text), 'question');
    case 'remedy': {
      const item = leaf(t('To do: {0}', node.text), 'lightbulb');
      item.contextValue = node.settings.length > 0 ? 'remedy.settings' : 'remedy';
      if (node.settings.length > 0) {
        item.command = { command: Command.OpenRemedySetting, title: t('Open Setting'), arguments: [node] };
      }
      return item;
    }
  }
}

function findingItem({ finding, parent }: FindingNode): vscode.TreeItem {
  const item = new vscode.TreeItem(finding.mode, vscode.TreeItemCollapsibleState.Collapsed);
  item.iconPath = severityIcon(isCritical(finding));
  const severity = isCritical(finding) ? t('critical') : t('warning');
  const message = ofEngine(finding);
  item.description = `${severity} · ${message}`;
  item.tooltip = `${t('{0} ({1}) in run {2}', finding.mode, severity, parent.run.summary.id)}\n${message}`;
  item.contextValue = finding.evidence.trajectoryId === null ? 'finding' : 'finding.evidence';
  return item;
}

function severityIcon(critical: boolean): vscode.ThemeIcon {
  return critical
    ? new vscode.ThemeIcon('error', new vscode.ThemeColor('list.errorForeground'))
    : new vscode.ThemeIcon('warning', new vscode.ThemeColor('list.warningForeground'));
}

function leaf(label: string, icon: string): vscode.TreeItem {
  const item = new vscode.TreeItem(label);
  item.tooltip = label;
  item.iconPath = new vscode.ThemeIcon(icon);
  return item;
}

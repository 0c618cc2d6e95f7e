import * as vscode from 'vscode';
import type { Finding } from '../../trainer/doctor/finding.js';
import type { RunStatus, TrajectoryHeader } from '../../trainer/run/runRecord.js';
import { Command } from '../contributions.js';
import { machineError } from '../machineError.js';
import { finishedItem } from '../treeItems.js';
import { turnLabel } from '../trajectory/turns.js';
import { countInWords } from './foundFindings.js';
import { meanReward, runOf, type PhaseNode, type RunTreeNode, type TrajectoryNode } from './runTree.js';
import { ofEngine, t } from '../translate.js';

const runIcons: Readonly<Record<RunStatus, string>> = {
  running: 'sync~spin',
  paused: 'debug-pause',
  completed: 'pass',
  stopped: 'debug-stop',
  failed: 'error',
  interrupted: 'debug-disconnect',
};

const statusWords: Readonly<Record<RunStatus, () => string>> = {
  running: () => t('running'),
  paused: () => t('paused'),
  completed: () => t('completed'),
  stopped: () => t('stopped'),
  failed: () => t('failed'),
  interrupted: () => t('interrupted'),
};

export const statusWord = (status: RunStatus): string => statusWords[status]();

/** How a node shows: states are told by icon and by words, never by colour alone. */
export function treeItem(node: RunTreeNode): vscode.TreeItem {
  return finishedItem(describe(node), node.id);
}

function describe(node: RunTreeNode): vscode.TreeItem {
  switch (node.kind) {
    case 'run': {
      const { status, step, steps, createdAt, id, folder } = node.summary;
      const item = parentItem(shortTime(createdAt), runIcons[status]);
      const parts = [statusWord(status), t('step {0} of {1}', step, steps), node.repository.name];
      if (node.findings.length > 0) parts.push(t('doctor: {0}', countInWords(node.findings)));
      item.description = parts.join(' · ');
      const lines = [t('Run {0} of {1}', id, new Date(createdAt).toLocaleString()), folder, ofEngine(node.summary)];
      item.tooltip = lines.filter(Boolean).join('\n');
      item.contextValue = `run.${status}`;
      return item;
    }
    case 'phase':
      return phaseItem(node);
    case 'task': {
      const solved = node.headers.filter((header) => header.resolved).length;
      const item = parentItem(node.taskId, 'beaker');
      item.description = `${t('{0} of {1} solved', solved, node.headers.length)} · ${rewardText(meanReward(node.headers))}`;
      item.contextValue = 'task';
      return item;
    }
    case 'trajectory':
      return trajectoryItem(node);
    case 'turn': {
      const { action, detail } = turnLabel(node.turn.message);
      const item = new vscode.TreeItem(`${node.turn.number}  ${action}`);
      item.description = detail;
      item.iconPath = new vscode.ThemeIcon(node.turn.message.malformedCall ? 'warning' : 'comment');
      item.contextValue = 'turn';
      item.command = { command: Command.OpenTrajectory, title: t('Open Trajectory'), arguments: [node] };
      return item;
    }
    case 'page': {
      const item = parentItem(t('{0} to {1}', ...node.range), 'list-unordered');
      item.contextValue = 'page';
      return item;
    }
  }
}

function phaseItem(node: PhaseNode): vscode.TreeItem {
  const live = !node.outcome && runOf(node)?.summary.status === 'running';
  const icon = live ? 'sync~spin' : node.phase === 'evaluation' ? 'graph' : 'mortar-board';
  const item = parentItem(phaseLabel(node), icon);
  item.contextValue = 'phase';
  const { outcome, headers } = node;
  if (outcome?.type === 'evaluation') {
    const { rate, interval, n } = outcome.success;
    item.description = [
      t('{0} solved ({1} to {2}) of {3}', percent(rate), percent(interval[0]), percent(interval[1]), n),
      rewardText(outcome.meanReward),
    ].join(' · ');
  } else {
    const solved = headers.filter((header) => header.resolved).length;
    const counts = [solved, headers.length] as const;
    const mark = doctorsMark(node, ({ evidence }) => node.phase === 'rollout' && evidence.step === node.step);
    const parts = [
      rewardText(meanReward(headers)),
      live ? t('{0} of {1} solved so far', ...counts) : t('{0} of {1} solved', ...counts),
      mark,
    ];
    item.description = parts.filter(Boolean).join(' · ');
  }
  return item;
}

/** Names what the doctor found here; empty where it found nothing. */
function doctorsMark(node: RunTreeNode, isHere: (finding: Finding) => boolean): string {
  const modes = (runOf(node)?.findings ?? []).filter(isHere).map(({ mode }) => mode);
  return modes.length === 0 ? '' : t('doctor: {0}', modes.join(', '));
}

function phaseLabel({ phase, step, isFirstEvaluation }: PhaseNode): string {
  if (phase === 'rollout') return t('Step {0}', step);
  // What is demonstrated after a step was seen in hindsight (trainer/data/hindsight.ts).
  if (phase === 'demonstration') return step > 0 ? t('Relabelled failures of step {0}', step) : t('Demonstrations');
  return isFirstEvaluation ? t('Evaluation before training') : t('Evaluation after step {0}', step);
}

function trajectoryItem(node: TrajectoryNode): vscode.TreeItem {
  const { header, advantage } = node;
  const { icon, word } = outcomeOf(header);
  const item = parentItem(
    header.kind === 'rollout' ? t('Rollout {0}', header.sample + 1) : t('Episode {0}', header.sample + 1),
    icon,
  );
  item.description = [
    word,
    rewardText(header.reward),
    advantage === undefined ? '' : t('advantage {0}', signed(advantage)),
    t('{0} turns', header.turns),
    doctorsMark(node, ({ evidence }) => evidence.trajectoryId === header.id),
    t('{0} tokens', header.tokens),
    t('{0} s', header.seconds.toFixed(1)),
  ]
    .filter(Boolean)
    .join(' · ');
  item.tooltip = [
    header.id,
    t('Ended: {0}. Sandbox: {1}.', header.stopReason, header.sandbox),
    machineError(header) ?? '',
  ]
    .filter(Boolean)
    .join('\n');
  item.contextValue = 'trajectory';
  item.command = { command: Command.OpenTrajectory, title: t('Open Trajectory'), arguments: [node] };
  return item;
}

/** In words and as an icon: how a trajectory ended. */
export function outcomeOf(header: TrajectoryHeader): { icon: string; word: string } {
  if (header.infrastructureError !== null) return { icon: 'warning', word: t('machine error') };
  return header.resolved ? { icon: 'pass', word: t('solved') } : { icon: 'error', word: t('failed') };
}

/** Day and minute, without the year. */
export function shortTime(iso: string): string {
  const format: Intl.DateTimeFormatOptions = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' };
  return new Date(iso).toLocaleString(undefined, format);
}

function parentItem(label: string, icon: string): vscode.TreeItem {
  const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.Collapsed);
  item.iconPath = new vscode.ThemeIcon(icon);
  return item;
}

const percent = (share: number) => `${Math.round(share * 100)} %`;
const signed = (value: number) => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;
const rewardText = (reward: number | null) => (reward === null ? t('no reward') : t('reward {0}', reward.toFixed(2)));

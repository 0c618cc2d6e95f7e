import { performance } from 'node:perf_hooks';
import { cancelled, infrastructure, WhetstoneError } from '../trajectory/errors.js';
import { say } from '../trajectory/said.js';
import type { AssistantMessage, SystemMessage, ToolCall, ToolMessage, UserMessage } from '../trajectory/message.js';
import type { Task } from '../trajectory/task.js';
import type { StopReason } from '../trajectory/trajectory.js';
import type { Environment } from './environment.js';
import type { Episode, EpisodeCounters, EpisodeLimits, EpisodeStep } from './episodeTypes.js';
import { dangersOf } from './reward/dangerousCommands.js';
import { finishObservation } from './tools/normalize.js';
import { renderSelfCheck, systemPrompt, taggedCall, taskPrompt } from './tools/prompts.js';
import { runCommand } from './tools/runCommand.js';
import type { ToolContext } from './tools/tool.js';
import { findTool, renderMalformedCall, renderUnknownTool, toolSchemas } from './tools/tools.js';
import type { RunMemory } from './workspace/runMemory.js';
import type { FileChange, Workspace } from './workspace/workspace.js';

/**
 * Opens a clean workspace for the task and returns the episode at its first turn.
 * @param callExample how the policy writes a tool call, with placeholders
 * @param memory answers runs of the tests that were made in other episodes; none: each is made
 */
export async function startEpisode(
  environment: Environment,
  task: Task,
  limits: EpisodeLimits,
  callExample: string = taggedCall,
  memory?: RunMemory<'shown'>,
): Promise<Episode> {
  const workspace = await environment.openWorkspace(task, [], memory);
  return new PlayedEpisode(environment, task, limits, workspace, callExample);
}

/** Name under which the answer to a malformed call is shown: no tool was reached. */
const NO_TOOL = 'error';

class PlayedEpisode implements Episode {
  readonly prompt: readonly [SystemMessage, UserMessage];
  readonly tools = toolSchemas;
  private readonly started = performance.now();
  private readonly toolCalls = new Map<string, number>();
  private turns = 0;
  private thoughtTurns = 0;
  private validCalls = 0;
  private malformedCalls = 0;
  private unknownTools = 0;
  private invalidArguments = 0;
  private readonly dangerousCommands: string[] = [];
  private wasAskedToCheck = false;
  private stopReason: StopReason | null = null;

  constructor(
    private readonly environment: Environment,
    private readonly task: Task,
    private readonly limits: EpisodeLimits,
    private readonly workspace: Workspace,
    private readonly callExample: string,
  ) {
    this.prompt = [
      { role: 'system', content: systemPrompt(toolSchemas, callExample) },
      { role: 'user', content: taskPrompt(task) },
    ];
  }

  get root(): string {
    return this.workspace.root;
  }

  async step(message: AssistantMessage, signal?: AbortSignal): Promise<EpisodeStep> {
    if (this.stopReason !== null) throw new Error(`internal: the episode is over (${this.stopReason})`);
    this.turns++;
    if (message.thinking?.trim()) this.thoughtTurns++;
    const observations: ToolMessage[] = [];
    for (const call of message.toolCalls) {
      observations.push(this.observe(call.id, call.name, await this.play(call, signal)));
      if (this.stopReason !== null) break;
    }
    if (message.malformedCall !== undefined && this.stopReason === null) {
      this.malformedCalls++;
      const answer = renderMalformedCall(message.malformedCall, this.callExample);
      observations.push(this.observe(`malformed-${this.turns}`, NO_TOOL, answer));
    }
    if (observations.length === 0) this.stopReason = 'no-tool-call';
    else if (this.turns >= this.limits.maxTurns) this.stopReason ??= 'turn-limit';
    return { observations, stopReason: this.stopReason };
  }

  changes(): Promise<FileChange[]> {
    return this.workspace.changes();
  }

  statistics(): EpisodeCounters {
    return {
      turns: this.turns,
      thoughtTurns: this.thoughtTurns,
      toolCalls: Object.fromEntries(this.toolCalls),
      malformedCalls: this.malformedCalls,
      unknownTools: this.unknownTools,
      invalidArguments: this.invalidArguments,
      validCalls: this.validCalls,
      dangerousCommands: [...this.dangerousCommands],
      seconds: (performance.now() - this.started) / 1000,
    };
  }

  dispose(): Promise<void> {
    return this.workspace.dispose();
  }

  /** Plays one call; the text of its observation. */
  private async play(call: ToolCall, signal: AbortSignal | undefined): Promise<string> {
    if (signal?.aborted) throw cancelled();
    const tool = findTool(call.name);
    if (!tool) {
      this.unknownTools++;
      return renderUnknownTool(call.name);
    }
    this.toolCalls.set(tool.name, (this.toolCalls.get(tool.name) ?? 0) + 1);
    const answer = await tool.call(call.arguments, this.toolContext(signal)).catch((error: unknown) => {
      const text = refusalOfTheTree(error);
      if (text === null) throw asInfrastructure(error, tool.name);
      return { text, valid: true };
    });
    if (signal?.aborted) throw cancelled();
    if (!answer.valid) this.invalidArguments++;
    else {
      this.validCalls++;
      if (tool.name === runCommand.name) this.dangerousCommands.push(...dangersOf(String(call.arguments.command)));
      if (tool.ends && this.limits.selfCheck === true && !this.wasAskedToCheck) {
        this.wasAskedToCheck = true;
        return renderSelfCheck((await this.workspace.changes()).map(({ path }) => path));
      }
      if (tool.ends) this.stopReason = 'submitted';
    }
    return answer.text;
  }

  private observe(toolCallId: string, name: string, text: string): ToolMessage {
    return { role: 'tool', toolCallId, name, content: finishObservation(text, this.limits.observationCharacters) };
  }

  private toolContext(signal: AbortSignal | undefined): ToolContext {
    const { suites } = this.environment;
    return {
      workspace: this.workspace,
      task: this.task,
      limits: this.limits,
      isTestFile: (path) => suites.isTestFile(path),
      signal,
    };
  }
}

/** What the state of the tree itself can forbid (the policy may have taken away permissions); null for all else. */
function refusalOfTheTree(error: unknown): string | null {
  const { code, path } = error as NodeJS.ErrnoException;
  const reasons: Readonly<Record<string, string>> = {
    EACCES: 'permission denied',
    EPERM: 'not permitted',
    EROFS: 'read-only',
    ENOENT: 'no such file',
    ENOTDIR: 'not a folder',
    EISDIR: 'a folder',
    ENAMETOOLONG: 'the name is too long',
  };
  return path !== undefined && code !== undefined && code in reasons ? `Not possible: ${reasons[code]}.` : null;
}

function asInfrastructure(error: unknown, tool: string): WhetstoneError {
  if (error instanceof WhetstoneError) return error;
  const message = say`The tool ${tool} failed: ${error instanceof Error ? error.message : String(error)}.`;
  return infrastructure(message, 'Check the disk and its free space, then try again.', error);
}

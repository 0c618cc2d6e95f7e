import path from 'node:path';
import { toolSchemas } from '../../env/tools/tools.js';
import type { RunReader } from '../../trainer/run/runReader.js';
import type { RunConfig, TrajectoryHeader } from '../../trainer/run/runRecord.js';
import { cancelled } from '../../trajectory/errors.js';
import type { Task } from '../../trajectory/task.js';
import type { LearnedTokens, Trajectory } from '../../trajectory/trajectory.js';
import { conversationsOf } from '../conversation.js';
import { toAtif } from './atif.js';
import { JsonLinesFile, writeFolder, writeText } from './exportFolder.js';
import { toOpenAi } from './openai.js';
import { toPrediction } from './sweBench.js';
import { toTrl } from './trl.js';
import { toVerifiersTrace } from './verifiers.js';

export const trajectoryFormats = ['swebench', 'swesmith', 'verifiers', 'trl', 'openai', 'atif'] as const;
export type TrajectoryFormat = (typeof trajectoryFormats)[number];

export interface TrajectoryExport {
  readonly format: TrajectoryFormat;
  readonly whetstoneVersion: string;
  /** Which trajectories of the run. */
  readonly include: (header: TrajectoryHeader, task: Task | null) => boolean;
  readonly signal?: AbortSignal;
}

/** Everything about one trajectory that a format may want. */
interface Exported {
  readonly trajectory: Trajectory;
  readonly task: Task | null;
  readonly learned: LearnedTokens | null;
  readonly config: RunConfig;
  readonly whetstoneVersion: string;
  /** The task's how many-th trajectory it is, from 0. */
  readonly attempt: number;
}

/** Writes a run's trajectories into the new folder `target`, in another system's format. Gives how many. */
export async function exportTrajectories(run: RunReader, target: string, options: TrajectoryExport): Promise<number> {
  const config = await run.config();
  const tasks = new Map((await run.tasks()).map((task) => [task.instance_id, task]));
  const headers = await run.headers((header) => options.include(header, tasks.get(header.taskId) ?? null));
  const attempts = new Map<string, number>();
  return writeFolder(target, async (draft) => {
    const files = new Map<string, JsonLinesFile>();
    const append = async (name: string, value: unknown) => {
      const file = files.get(name) ?? new JsonLinesFile(path.join(draft, name));
      files.set(name, file);
      await file.append(value);
    };
    try {
      for (const { id, taskId } of headers) {
        if (options.signal?.aborted) throw cancelled();
        const attempt = attempts.get(taskId) ?? 0;
        attempts.set(taskId, attempt + 1);
        const [trajectory, learned] = [await run.trajectory(id), await run.learned(id)];
        const task = tasks.get(taskId) ?? null;
        const { whetstoneVersion } = options;
        for (const { file, value } of documents[options.format]({
          trajectory,
          task,
          learned,
          config,
          whetstoneVersion,
          attempt,
        })) {
          if (file.endsWith('.jsonl')) await append(file, value);
          else await writeText(draft, file, `${JSON.stringify(value, null, 2)}\n`);
        }
      }
    } finally {
      for (const file of files.values()) await file.close();
    }
    return headers.length;
  });
}

type Documents = (exported: Exported) => readonly { readonly file: string; readonly value: unknown }[];

/** Which of a task's predictions a harness would grade is its choice, so each attempt has a file of its own. */
const predictions: Documents = ({ trajectory, config, attempt }) => [
  { file: `predictions-${attempt}.jsonl`, value: toPrediction(trajectory, config.settings.model) },
];

const documents: Readonly<Record<TrajectoryFormat, Documents>> = {
  swebench: predictions,
  swesmith: predictions,
  verifiers: ({ trajectory, task, learned, config, whetstoneVersion }) => [
    {
      file: 'traces.jsonl',
      value: toVerifiersTrace(trajectory, {
        task,
        learned,
        tools: toolSchemas,
        model: config.settings.model,
        startedAt: Date.parse(config.createdAt) / 1000 || 0,
        whetstoneVersion,
      }),
    },
  ],
  trl: (exported) =>
    conversationsOf(exported.trajectory).map(({ messages }) => ({
      file: 'trajectories.jsonl',
      value: { ...toTrl(messages, toolSchemas), ...factsOf(exported) },
    })),
  openai: (exported) =>
    conversationsOf(exported.trajectory).map(({ messages }) => ({
      file: 'trajectories.jsonl',
      value: { ...toOpenAi(messages, toolSchemas), metadata: textsOf(factsOf(exported)) },
    })),
  atif: ({ trajectory, config, whetstoneVersion }) =>
    toAtif(trajectory, {
      runId: config.runId,
      model: config.settings.model,
      whetstoneVersion,
      tools: toolSchemas,
    }).map((value) => ({ file: `${fileName(value.trajectory_id)}.json`, value })),
};

/** What training on conversations needs beside them. */
function factsOf({ trajectory, task }: Exported) {
  return {
    trajectory_id: trajectory.id,
    task_id: trajectory.taskId,
    split: task?.whetstone.split ?? trajectory.split,
    reward: trajectory.grade?.reward ?? null,
    resolved: trajectory.grade?.resolved ?? null,
  };
}

/** OpenAI's metadata holds texts only. */
const textsOf = (facts: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, String(value)]));

const fileName = (id: string) => id.replace(/[^\w.-]+/g, '_');

/**
 * What the editor costs beside VS Code itself: npm run bench editor [-- --trajectories N --tokens N]
 *
 * - activation: the bundled extension in a fresh process (after `npm run build`)
 * - a run of N trajectories: from nothing read to the rows of its tree, unfolded to the last step's last group
 * - memory: of the process that holds that run's headers
 * - a trajectory of N tokens: from the disk to the document's text and every token's place in it
 *
 * - on Linux on x64, a trajectory of 200,000 tokens in a real VS Code: from the click to its text, and the frames a second
 *   while it scrolls (test/vscode/scrolling.mjs, which installs what the editor's tests need)
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { paged, phases, runNode, tasks, trajectories, type RunTreeNode } from '../../src/extension/runs/runTree.js';
import { layOut } from '../../src/extension/trajectory/trajectoryText.js';
import { openRun } from '../../src/trainer/run/runReader.js';
import { loadRunTokenizer } from '../../src/trainer/run/runTokenizer.js';
import { RunWriter } from '../../src/trainer/run/runWriter.js';
import type { Trajectory, TrajectoryNode } from '../../src/trajectory/trajectory.js';
import { createBenchRun } from './benchRun.js';

const { values } = parseArgs({
  options: { trajectories: { type: 'string', default: '100000' }, tokens: { type: 'string', default: '200000' } },
});
const [count, tokens] = [Number(values.trajectories), Number(values.tokens)];
const project = process.cwd();
const rolloutsOfTask = 8;
const rolloutsOfStep = 64;

const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MB`;
/** A stopwatch; the processor's own time tells what a machine that does much else would have taken alone. */
function stopwatch(): () => string {
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(cpu);
    return `${(performance.now() - start).toFixed(0)} ms (${((user + system) / 1000).toFixed(0)} ms of the processor)`;
  };
}

function trajectory(index: number, nodes: readonly TrajectoryNode[]): Trajectory {
  const step = 1 + Math.floor(index / rolloutsOfStep);
  const taskId = `task-${Math.floor(index / rolloutsOfTask) % 97}`;
  const sample = index % rolloutsOfTask;
  return {
    id: `step-${String(step).padStart(6, '0')}/${taskId}/${sample}`,
    kind: 'rollout',
    step,
    taskId,
    split: 'train',
    sample,
    seed: index,
    temperature: 1,
    policyStep: step - 1,
    sandbox: 'bubblewrap',
    nodes,
    stopReason: 'submitted',
    infrastructureError: null,
    grade: {
      reward: sample / rolloutsOfTask,
      resolved: sample === 0,
      components: { tests: { score: sample === 0 ? 1 : 0, weight: 1 } },
      tests: [{ id: 'a test', before: 'failed', after: sample === 0 ? 'passed' : 'failed' }],
      files: [{ path: 'src/file.js', ratio: 0.5 }],
    },
    patch: '--- a/src/file.js\n+++ b/src/file.js\n@@ -1 +1 @@\n-one\n+two\n',
    statistics: {
      turns: 4,
      toolCalls: { open: 2, edit: 1, submit: 1 },
      malformedCalls: 0,
      unknownTools: 0,
      invalidArguments: 0,
      validCalls: 4,
      sampledTokens: 100,
      totalTokens: 400,
      seconds: 3,
    },
  };
}

/** A conversation as long as a context can be: the text of a source file over and over. */
async function longNodes(runTokenizer: () => ReturnType<typeof loadRunTokenizer>): Promise<TrajectoryNode[]> {
  const codec = await runTokenizer();
  if (!('encode' in codec) || typeof codec.encode !== 'function') throw new Error('the tokenizer can not encode');
  const ids = Array.from(codec.encode(readFileSync(path.join(project, 'src/env/grade.ts'), 'utf8')) as Int32Array);
  const perNode = 2000;
  return Array.from({ length: Math.ceil(tokens / perNode) }, (_, index) => {
    const tokenIds = Int32Array.from({ length: perNode }, (_, at) => ids[(index * perNode + at) % ids.length]);
    const isAgent = index % 2 === 1;
    return {
      parent: index === 0 ? null : index - 1,
      message: isAgent
        ? { role: 'assistant', content: '', toolCalls: [], raw: '' }
        : { role: 'tool', toolCallId: '', name: 'open', content: '' },
      tokenIds,
      actionMask: new Uint8Array(perNode).fill(isAgent ? 1 : 0),
      logprobs: new Float32Array(perNode).fill(isAgent ? -0.5 : NaN),
      entropies: new Float32Array(perNode).fill(isAgent ? 0.5 : NaN),
    };
  });
}

async function main(): Promise<void> {
  const activation = path.join(project, 'scripts/bench/activation.mjs');
  console.log('activation');
  console.log(execFileSync(process.execPath, [activation, '--runs', '5'], { encoding: 'utf8' }).trim());

  const stateFolder = mkdtempSync(path.join(tmpdir(), 'whetstone-bench-'));
  try {
    const paths = await createBenchRun(stateFolder, project);
    const writer = new RunWriter(paths);
    for (let index = 0; index < count; index++) writer.trajectory(trajectory(index, []));
    const embedded = () => path.join(project, 'media/embedded-policy');
    const long = await longNodes(() => loadRunTokenizer(openRun(stateFolder, 'bench'), embedded));
    const longest = { ...trajectory(count, long), id: 'long' };
    writer.trajectory(longest);
    writer.close();

    let took = stopwatch();
    const run = openRun(stateFolder, 'bench');
    const repository = { root: project, name: 'bench', stateFolder };
    const node = runNode({ repository, summary: await run.summary(), findings: [] });
    let shown: readonly RunTreeNode[] = paged(node, phases(node, await run.headers(), await run.events()));
    console.log(`a run of ${count} trajectories: ${took()} to its ${shown.length} first rows`);
    took = stopwatch();
    const page = shown.at(-1);
    shown = page?.kind === 'page' ? page.nodes : shown;
    const step = shown.at(-1);
    const [task] = step?.kind === 'phase' ? tasks(step) : [];
    console.log(`  and ${took()} to the ${trajectories(task).length} rollouts of its last step's first task`);
    globalThis.gc?.();
    console.log(
      `memory with that run: ${megabytes(process.memoryUsage().rss)}, ${megabytes(process.memoryUsage().heapUsed)} of it objects`,
    );

    took = stopwatch();
    const [opened, codec] = await Promise.all([run.trajectory('long'), loadRunTokenizer(run, embedded)]);
    const text = layOut(opened, codec);
    console.log(
      `a trajectory of ${text.tokens.length} tokens: ${took()} to its document of ${text.text.length} characters`,
    );
  } finally {
    rmSync(stateFolder, { recursive: true, force: true });
  }
  if (process.platform === 'linux' && process.arch === 'x64') {
    console.log('in a real VS Code');
    execFileSync(process.execPath, [path.join(project, 'test/vscode/scrolling.mjs')], { stdio: 'inherit' });
  }
}

void main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});

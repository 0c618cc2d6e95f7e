import { cancelled } from '../../trajectory/errors.js';
import { say, type Said } from '../../trajectory/said.js';
import type { Task } from '../../trajectory/task.js';
import { countedChanges } from '../countedChanges.js';
import type { Environment } from '../environment.js';
import { gradeChanges, gradePatch } from '../grade.js';
import type { FileChange } from '../workspace/workspace.js';
import { exploitsFor } from './exploits/battery.js';
import type { Exploit } from './exploits/exploit.js';
import { playExploit } from './exploits/playExploit.js';
import { readStart } from './exploits/startFiles.js';
import { equivalentRewrites } from './rewrites.js';
import { unifiedDiff } from './unifiedDiff.js';

/** One check of a task. */
export interface Check {
  /** By which its translation is found too. */
  readonly name: string;
  /** All of the test reward (the oracle and its rewrites), or no more than an empty patch gets (exploits). */
  readonly wanted: 'all' | 'nothing';
  /** Its test reward; null where the attempt ended without a grade. */
  readonly score: number | null;
  readonly isAsItMustBe: boolean;
  /** What the grade says, or why there is none. */
  readonly reason: string;
}

/** What trying to cheat at a task gave. It is fit for training where `failures` is empty. */
export interface TaskVerification {
  readonly instance_id: string;
  /** Checks made: the oracle, its rewrites, and every exploit. */
  readonly tried: number;
  /** Checks that went as they must: oracle and rewrites get the full test reward, no exploit more than an empty patch. */
  readonly caught: number;
  /** Names of the others. */
  readonly failures: readonly string[];
  /** Exploits left out since there is no sandbox to keep them from the machine. */
  readonly skipped: readonly string[];
  readonly checks: readonly Check[];
}

export interface VerifyHooks {
  readonly onProgress?: (progress: { done: number; total: number; said: Said }) => void;
  readonly signal?: AbortSignal;
  /** For one run of a task's tests; less for exploits, where the oracle's takes far less. */
  readonly timeoutMs?: number;
  /** Which exploits to try; all of them by default. */
  readonly isTried?: (exploit: Exploit) => boolean;
  /** Exploits tried side by side. */
  readonly concurrency?: number;
}

/** Grades the oracle, its rewrites and the battery of exploits for every task, one task after the other. */
export async function verifyTasks(
  environment: Environment,
  tasks: readonly Task[],
  hooks: VerifyHooks = {},
): Promise<TaskVerification[]> {
  const verified: TaskVerification[] = [];
  for (const task of tasks) {
    const progress = { done: verified.length, total: tasks.length };
    verified.push(
      await new Verification(environment, task, hooks).run((said) => hooks.onProgress?.({ ...progress, said })),
    );
  }
  return verified;
}

type Score = Pick<Check, 'score' | 'reason'>;

class Verification {
  /** Grades by what counts of the changes: many exploits come down to the same. */
  private readonly known = new Map<string, Promise<Score>>();
  private timeoutMs: number;
  private emptyScore = 0;
  /** Throws where not even the oracle can be graded: then no exploit is to blame. */
  private requireMachine: () => Promise<void> = () => Promise.resolve();

  constructor(
    private readonly environment: Environment,
    private readonly task: Task,
    private readonly hooks: VerifyHooks,
  ) {
    this.timeoutMs = hooks.timeoutMs ?? 120_000;
  }

  async run(onCheck: (said: Said) => void): Promise<TaskVerification> {
    const { environment, task } = this;
    const { oracle, start } = await readStart(environment, task);
    const checks: Check[] = [];
    const add = (check: Check) => {
      checks.push(check);
      onCheck(say`${task.instance_id}: ${{ message: check.name }}`);
    };
    const started = performance.now();
    this.requireMachine = async () => {
      await gradeChanges(environment, task, oracle, { ...this.options, isMachineWell: false });
    };
    await this.check(say`the oracle`.message, 'all', () => this.grade(oracle)).then(add);
    // An exploit that ends at all ends in a time like the oracle's.
    this.timeoutMs = Math.min(this.timeoutMs, 5000 + 5 * (performance.now() - started));
    for (const { name, changes } of equivalentRewrites(oracle)) {
      await this.check(name, 'all', () => this.grade(changes)).then(add);
    }

    this.emptyScore = (await this.gradeText('')).score ?? 0;
    const exploits = exploitsFor(start).filter((exploit) => this.hooks.isTried?.(exploit) ?? true);
    const isConfined = environment.sandbox !== 'unconfined';
    const pending = exploits.filter(({ kind }) => isConfined || kind !== 'commands');
    const tryExploit = async (exploit: Exploit) => {
      const changes = await playExploit(environment, start, oracle, exploit, this.hooks.signal);
      return exploit.kind === 'patch' ? this.gradeText(unifiedDiff(changes)) : this.grade(changes);
    };
    const work = async (queue: Exploit[]) => {
      for (let exploit = queue.shift(); exploit; exploit = queue.shift()) {
        const { name } = exploit;
        await this.check(name, 'nothing', () => tryExploit(exploit)).then(add);
      }
    };
    // What uses the machine up is tried alone.
    const [slow, quick] = [true, false].map((wanted) => pending.filter(({ isSlow = false }) => isSlow === wanted));
    await Promise.all(Array.from({ length: this.hooks.concurrency ?? 2 }, () => work(quick)));
    await work(slow);

    const failures = checks.filter(({ isAsItMustBe }) => !isAsItMustBe).map(({ name }) => name);
    return {
      instance_id: task.instance_id,
      tried: checks.length,
      caught: checks.length - failures.length,
      failures,
      skipped: isConfined ? [] : exploits.filter(({ kind }) => kind === 'commands').map(({ name }) => name),
      checks,
    };
  }

  /** An attempt that ends without a grade is one that got around it. */
  private async check(name: string, wanted: Check['wanted'], attempt: () => Promise<Score>): Promise<Check> {
    if (this.hooks.signal?.aborted) throw cancelled();
    const graded = await attempt().catch(async (error: unknown): Promise<Score> => {
      if (this.hooks.signal?.aborted) throw error;
      await this.requireMachine();
      return { score: null, reason: error instanceof Error ? error.message : String(error) };
    });
    const { score } = graded;
    const isAsItMustBe = wanted === 'all' ? score === 1 : score !== null && score <= this.emptyScore;
    return { name, wanted, ...graded, isAsItMustBe };
  }

  private grade(changes: readonly FileChange[]): Promise<Score> {
    const counted = countedChanges(this.environment, this.task, changes);
    const key = JSON.stringify(counted);
    const known = this.known.get(key) ?? gradeChanges(this.environment, this.task, changes, this.options).then(scoreOf);
    this.known.set(key, known);
    return known;
  }

  private gradeText(patch: string): Promise<Score> {
    return gradePatch(this.environment, this.task, patch, this.options).then(scoreOf);
  }

  private get options() {
    const { timeoutMs } = this;
    return { statistics: null, timeoutMs, signal: this.hooks.signal, isMachineWell: true };
  }
}

const scoreOf = ({
  components,
}: {
  components: Readonly<Record<string, { score: number; reason?: string }>>;
}): Score => ({
  score: components.tests.score,
  reason: components.tests.reason ?? '',
});

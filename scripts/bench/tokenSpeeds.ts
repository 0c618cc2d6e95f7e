/**
 * How fast tokens are sampled here, by transformers' `generate` and by llama.cpp, of the same weights in float32 and with as many
 * threads. They take turns in short runs, so that what else the machine does meets all of them; each is measured once more with
 * the most probable tokens instead of sampled ones, which must be the same.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { saveCheckpoint } from '../../src/trainer/model/checkpoint.js';
import { modelConfigJson } from '../../src/trainer/model/config.js';
import { createGenerator } from '../../src/trainer/model/generator.js';
import { initializeParameters, type LlamaConfig } from '../../src/trainer/model/llamaConfig.js';
import { plainGguf } from './plainGguf.js';

const [givenTokens, sampledTokens] = [128, 64];

export interface TokenSpeedOptions {
  readonly shape: LlamaConfig;
  readonly threads: number;
  /** Sequences side by side, of each comparison. */
  readonly batches: readonly number[];
  /** Runs of each contestant in each comparison. */
  readonly rounds: number;
  /** For files; exists. */
  readonly folder: string;
  /** A Python that has transformers and torch, or xllamacpp, or all of them. */
  readonly python?: string;
}

interface Job {
  /** [sequences, given tokens]. */
  readonly given: readonly (readonly number[])[];
  readonly sampled: number;
  readonly greedy: boolean;
}

const playedSchema = z.object({
  /** [sequences, sampled tokens]. */
  tokens: z.array(z.array(z.int())),
  seconds: z.number(),
  cpuSeconds: z.number(),
});
type Played = z.infer<typeof playedSchema>;

interface Contestant {
  readonly name: string;
  play(job: Job): Promise<Played>;
  dispose(): Promise<void>;
}

/** Prints the speeds, and what the greatest tokens agree; returns whether all agree. */
export async function compareTokenSpeeds(options: TokenSpeedOptions): Promise<boolean> {
  const { shape, batches, rounds } = options;
  const parameters = livelyParameters(shape);
  const contestants: Contestant[] = [await ours(options, parameters)];
  try {
    contestants.push(...(await others(options, parameters)));
    const agree = await sayAgreement(contestants, options);
    for (const sequences of batches) {
      const job: Job = { given: givenOf(sequences, shape), sampled: sampledTokens, greedy: false };
      const runs = new Map<Contestant, Played[]>(contestants.map((contestant) => [contestant, []]));
      for (let round = 0; round < rounds; round++)
        for (const contestant of contestants) runs.get(contestant)!.push(await contestant.play(job));
      for (const [contestant, played] of runs) saySpeed(contestant.name, sequences, played);
    }
    return agree;
  } finally {
    for (const contestant of contestants) await contestant.dispose();
  }
}

/** Those that the Python has; says how to get the rest. */
async function others(
  { shape, threads, batches, folder, python }: TokenSpeedOptions,
  parameters: ReadonlyMap<string, Float32Array>,
): Promise<Contestant[]> {
  if (python === undefined) {
    console.log('  alone: name a Python with --python to compare (pip install torch transformers xllamacpp)');
    return [];
  }
  const has = (name: string) => spawnSync(python, ['-c', `import ${name}`], { stdio: 'ignore' }).status === 0;
  const found: Contestant[] = [];
  if (has('torch, transformers')) {
    const sourceFolder = path.join(process.cwd(), 'media/embedded-policy');
    await saveCheckpoint(folder, { config: shape, parameters, sourceFolder });
    // The embedded policy's own shape came along with its text.
    writeFileSync(path.join(folder, 'config.json'), JSON.stringify(modelConfigJson(shape)));
    const args = [scriptOf('rollouts_transformers.py'), folder, String(threads)];
    found.push(await another('transformers', python, args));
  } else console.log('  without transformers: that Python needs `pip install torch transformers`');
  if (has('xllamacpp')) {
    const file = path.join(folder, 'model.gguf');
    writeFileSync(file, plainGguf(shape, parameters));
    const sizes = [threads, Math.max(...batches), givenTokens + sampledTokens].map(String);
    found.push(await another('llama.cpp', python, [scriptOf('rollouts_llama.py'), file, ...sizes]));
  } else console.log('  without llama.cpp: that Python needs `pip install xllamacpp`');
  return found;
}

/**
 * Fresh parameters say the last token again and again, whatever stands before it; with larger projections what is most probable
 * follows from all tokens.
 */
function livelyParameters(shape: LlamaConfig): Map<string, Float32Array> {
  const parameters = initializeParameters(shape, 1);
  for (const [name, values] of parameters) if (name.includes('_proj.')) values.forEach((v, i) => (values[i] = 4 * v));
  return parameters;
}

const scriptOf = (name: string) => path.join(process.env.BENCH_FOLDER!, name);

const givenOf = (sequences: number, { vocabularySize }: LlamaConfig): number[][] =>
  Array.from({ length: sequences }, (_, row) =>
    Array.from({ length: givenTokens }, (_id, i) => (i * 7 + row * 131) % vocabularySize),
  );

function saySpeed(name: string, sequences: number, played: readonly Played[]): void {
  const tokens = sequences * sampledTokens;
  const speeds = (seconds: (one: Played) => number) => played.map((one) => tokens / seconds(one)).sort((a, b) => a - b);
  const byClock = speeds(({ seconds }) => seconds);
  const byProcessor = speeds(({ cpuSeconds }) => cpuSeconds);
  const middle = (sorted: readonly number[]) => sorted[Math.floor(sorted.length / 2)]!.toFixed(0);
  console.log(
    `  ${name}, ${sequences} sequences: ${middle(byClock)} tokens a second (${byClock[0]!.toFixed(0)} to ${byClock.at(-1)!.toFixed(0)}), ${middle(byProcessor)} a processor's second`,
  );
}

/** Plays the most probable tokens once with each, which also warms everyone up. */
async function sayAgreement(
  contestants: readonly Contestant[],
  { shape, batches }: TokenSpeedOptions,
): Promise<boolean> {
  let agree = true;
  const [first, ...others] = contestants;
  for (const sequences of batches) {
    const job: Job = { given: givenOf(sequences, shape), sampled: sampledTokens, greedy: true };
    const wanted = (await first!.play(job)).tokens.map((row) => row.join());
    for (const other of others) {
      const found = (await other.play(job)).tokens.map((row) => row.join());
      const same = found.filter((row, index) => row === wanted[index]).length;
      if (same === sequences) continue;
      agree = false;
      console.log(
        `  NOT COMPARABLE: ${other.name} finds other tokens most probable in ${sequences - same} of ${sequences} sequences`,
      );
    }
  }
  if (agree && others.length > 0) console.log('  all find the same tokens most probable');
  return agree;
}

async function ours(
  { shape, threads, batches }: TokenSpeedOptions,
  parameters: ReadonlyMap<string, Float32Array>,
): Promise<Contestant> {
  const generator = await createGenerator({
    config: shape,
    parameters,
    device: 'cpu',
    threads,
    slots: Math.max(...batches),
    maxContext: 1024,
    deterministic: false,
  });
  return {
    name: 'ours',
    play: async ({ given, sampled, greedy }) => {
      generator.invalidate();
      const [started, before] = [performance.now(), process.cpuUsage()];
      const results = await Promise.all(
        given.map((tokenIds, row) =>
          generator.generate({
            tokenIds: Int32Array.from(tokenIds),
            sessionId: String(row),
            maxNewTokens: sampled,
            stopTokenIds: [],
            temperature: greedy ? 0 : 1,
            topP: 1,
            topK: 0,
            seed: row,
          }),
        ),
      );
      const { user, system } = process.cpuUsage(before);
      const seconds = (performance.now() - started) / 1000;
      return {
        tokens: results.map(({ tokenIds }) => [...tokenIds]),
        seconds,
        cpuSeconds: (user + system) / 1e6,
      };
    },
    dispose: () => generator.dispose(),
  };
}

/** A program that answers a line of JSON, a job, with a line of JSON, what it played. */
async function another(name: string, program: string, args: readonly string[]): Promise<Contestant> {
  const child: ChildProcess = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${name} ended (${code}).`)));
  });
  ended.catch(() => undefined);
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const answer = async (): Promise<unknown> => {
    for (;;) {
      const { value, done } = await Promise.race([lines.next(), ended]);
      if (done === true) return ended;
      // Libraries print words of their own.
      if (value!.startsWith('{')) return JSON.parse(value!);
    }
  };
  await answer();
  return {
    name,
    play: async (job) => {
      child.stdin!.write(`${JSON.stringify(job)}\n`);
      return playedSchema.parse(await answer());
    },
    dispose: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.stdin!.end();
      await exited;
    },
  };
}

import { javascriptProgram } from '../programs/javascriptProgram.js';
import { invented, NOUNS } from '../programs/names.js';
import type { Program } from '../programs/program.js';
import { pythonPrograms } from '../programs/pythonProgram.js';
import { Rng } from '../programs/rng.js';
import type { ExpertEpisode } from './episode.js';
import { playExpert, type Attempt } from './expert.js';
import { quickCount } from './inProcess.js';
import { pythonEndsWell } from './pythonCheck.js';
import { realRuns, type Runtimes, type TestedSource } from './realRuns.js';
import { lineEdit } from '../../../src/trainer/warmStart/lineEdit.js';
import { randomMutation } from './variants.js';

export type Flavour = 'esm' | 'commonjs' | 'typescript' | 'python';

/** A bug of a module and the attempts at it that fail, before their tests have run. */
interface Plan {
  readonly program: Program;
  readonly operator: string;
  readonly buggy: string;
  readonly wrong: readonly string[];
}

/** Modules of one flavour, bugs in them, real test runs, and the expert's episodes. The same seed gives the same ones. */
export async function buildEpisodes(
  seed: number,
  flavour: Flavour,
  { count, small }: { readonly count: number; readonly small: boolean },
  runtimes: Runtimes,
): Promise<{ episodes: ExpertEpisode[]; programs: Program[] }> {
  const rng = new Rng(seed);
  const programs = distinct(makePrograms(rng, flavour, count, small));
  const baseline = await realRuns(
    programs.map((program) => ({ program, source: program.source })),
    runtimes,
  );
  const sound = programs.flatMap((program, i) => {
    const results = baseline[i];
    return results?.length && results.every(({ status }) => status === 'passed') ? [{ program, results }] : [];
  });
  const fixedOf = new Map(
    sound.map(({ program, results }) => [program, { source: program.source, results } satisfies Attempt]),
  );
  const episodes: ExpertEpisode[] = [];
  // Each round puts one bug into every module, so that the modules can be run together.
  for (let round = 0; round < 3; round += 1) {
    const plans = await planBugs(
      rng,
      sound.map(({ program }) => program),
      flavour,
    );
    const layers = Math.max(0, ...plans.map((plan) => plan.wrong.length)) + 1;
    const outcomes = new Map<Plan, (Attempt | null)[]>(plans.map((plan) => [plan, []]));
    for (let layer = 0; layer < layers; layer += 1) {
      const some = plans.filter((plan) => layer <= plan.wrong.length);
      const items: TestedSource[] = some.map((plan) => ({
        program: plan.program,
        source: layer === 0 ? plan.buggy : plan.wrong[layer - 1]!,
      }));
      const results = await realRuns(items, runtimes);
      some.forEach((plan, i) => {
        const own = results[i] ?? null;
        outcomes.get(plan)!.push(own === null ? null : { source: items[i]!.source, results: own });
      });
    }
    for (const plan of plans) {
      const [buggy, ...wrong] = outcomes.get(plan)!;
      if (!buggy || !hasBoth(buggy)) continue;
      const failed = wrong.filter(
        (attempt): attempt is Attempt => attempt !== null && attempt.results.some(({ status }) => status === 'failed'),
      );
      const others = rng
        .shuffle(sound)
        .filter(
          (other) => other.program.sourcePath !== plan.program.sourcePath && sameLayout(other.program, plan.program),
        )
        .slice(0, rng.int(2, 10))
        .map((other) => other.program);
      const episode = playExpert(rng, {
        program: plan.program,
        operator: plan.operator,
        buggy,
        wrong: failed,
        fixed: fixedOf.get(plan.program)!,
        others: others.length > 0 ? others : [sound[0]!.program],
        repo: rng.chance(0.4)
          ? invented(rng)
          : rng.pick(NOUNS) + rng.pick(['kit', '-tools', '-lib', 'js', '', '-utils']),
      });
      if (episode !== null) episodes.push(episode);
    }
  }
  return { episodes, programs };
}

function makePrograms(rng: Rng, flavour: Flavour, count: number, small: boolean): Program[] {
  const streams = Array.from({ length: count }, (_, i) => rng.fork(i));
  if (flavour === 'python') return pythonPrograms(streams, small);
  return streams.flatMap((stream) => {
    const program = javascriptProgram(stream, {
      typescript: flavour === 'typescript',
      commonjs: flavour === 'commonjs',
      small,
    });
    return program === null ? [] : [program];
  });
}

/** Python's modules share a folder, so no name may come twice. */
function distinct(programs: readonly Program[]): Program[] {
  const seen = new Set<string>();
  return programs.filter(({ language, sourcePath, testPath }) => {
    const names = language === 'python' ? [sourcePath.split('/').at(-1)!, testPath.split('/').at(-1)!] : [];
    if (names.some((name) => seen.has(name))) return false;
    names.forEach((name) => seen.add(name));
    return true;
  });
}

const hasBoth = ({ results }: Attempt) =>
  results.some(({ status }) => status === 'failed') && results.some(({ status }) => status === 'passed');

const folderOf = (path: string) => path.split('/').slice(0, -1).join('/');
const sameLayout = (a: Program, b: Program) =>
  folderOf(a.sourcePath) === folderOf(b.sourcePath) && folderOf(a.testPath) === folderOf(b.testPath);

/** One bug a module, with up to two failing attempts for half of them; what hangs or goes unnoticed is left out. */
async function planBugs(rng: Rng, programs: readonly Program[], flavour: Flavour): Promise<Plan[]> {
  const drafts = programs.flatMap((program) => {
    for (let attempt = 0; attempt < 6; attempt += 1) {
      const bug = randomMutation(rng, program.sourcePath, program.source);
      if (bug === null || lineEdit(bug.source, program.source) === null) continue;
      if (flavour !== 'python') {
        const count = quickCount(program, bug.source);
        if (count === null || count.failed === 0 || count.passed === 0) continue;
      }
      const wrong: string[] = [];
      const wanted = rng.pick([0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2]);
      for (let i = 0; i < wanted * 3 && wrong.length < wanted; i += 1) {
        const near = { first: bug.line - 6, last: bug.line + 6 };
        const guess = randomMutation(rng, program.sourcePath, bug.source, near);
        if (guess === null || guess.source === program.source || wrong.includes(guess.source)) continue;
        if (/removal|early|negation|return-value/.test(guess.operator) && rng.chance(0.8)) continue;
        if (flavour !== 'python') {
          const count = quickCount(program, guess.source);
          if (count === null || count.failed === 0) continue;
        }
        wrong.push(guess.source);
      }
      return [{ program, operator: bug.operator, buggy: bug.source, wrong }];
    }
    return [];
  });
  if (flavour !== 'python') return drafts;
  const sources = drafts.flatMap(({ program, buggy, wrong }) =>
    [buggy, ...wrong].map((source) => ({ program, source })),
  );
  const fine = pythonEndsWell(sources);
  const ends = new Map(sources.map((item, i) => [item.source, fine[i]!]));
  return drafts.filter(({ buggy, wrong }) => [buggy, ...wrong].every((source) => ends.get(source)));
}

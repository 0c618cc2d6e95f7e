import { rankSuspects } from '../../../src/env/suspects/rankSuspects.js';
import { injectionStatement } from '../../../src/env/tasks/statement.js';
import type { TestResult } from '../../../src/env/testing/testRunner.js';
import { javascriptProgram } from '../programs/javascriptProgram.js';
import { invented, NOUNS } from '../programs/names.js';
import type { Program } from '../programs/program.js';
import { pythonPrograms } from '../programs/pythonProgram.js';
import { Rng } from '../programs/rng.js';
import type { ExpertEpisode } from './episode.js';
import { playExpert } from './expert.js';
import { quickCount } from './inProcess.js';
import { pythonEndsWell } from './pythonCheck.js';
import { realRuns, type Runtimes, type TestedSource } from './realRuns.js';
import { randomMutation } from './variants.js';

export type Flavour = 'esm' | 'commonjs' | 'typescript' | 'python';

/** A bug of a module, before its tests have run. */
interface Plan {
  readonly program: Program;
  readonly operator: string;
  readonly buggy: string;
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
    return results?.length && results.every(({ status }) => status === 'passed') ? [{ program }] : [];
  });
  const episodes: ExpertEpisode[] = [];
  // Each round puts one bug into every module, so that the modules can be run together.
  for (let round = 0; round < 3; round += 1) {
    const plans = await planBugs(
      rng,
      sound.map(({ program }) => program),
      flavour,
    );
    const items: TestedSource[] = plans.map(({ program, buggy }) => ({ program, source: buggy }));
    const outcomes = await realRuns(items, runtimes);
    for (const [i, plan] of plans.entries()) {
      const results = outcomes[i];
      if (!results || !hasBoth(results)) continue;
      const others = rng
        .shuffle(sound)
        .filter(
          (other) => other.program.sourcePath !== plan.program.sourcePath && sameLayout(other.program, plan.program),
        )
        .slice(0, rng.int(2, 10))
        .map((other) => other.program);
      const { program } = plan;
      const neighbours = others.length > 0 ? others : [sound[0]!.program];
      const failing = results.filter(({ status }) => status === 'failed');
      const repo = rng.chance(0.4)
        ? invented(rng)
        : rng.pick(NOUNS) + rng.pick(['kit', '-tools', '-lib', 'js', '', '-utils']);
      const texts = new Map([
        [program.sourcePath, plan.buggy],
        ...neighbours.map(({ sourcePath, source }) => [sourcePath, source] as const),
      ]);
      const episode = playExpert(rng, {
        language: program.language,
        operator: plan.operator,
        repo,
        path: program.sourcePath,
        fixed: program.source,
        failing,
        passed: results.filter(({ status }) => status === 'passed').length,
        suspects: rankSuspects({
          sources: new Map(
            [...texts].map(([path, text]) => [path, { text, steps: path === program.sourcePath ? 1 : 2 }]),
          ),
          tests: new Map([[program.testPath, program.test]]),
          failing: failing.map(({ id }) => id),
          statement: injectionStatement(repo, failing, []),
        }),
        texts,
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

const hasBoth = (results: readonly TestResult[]) =>
  results.some(({ status }) => status === 'failed') && results.some(({ status }) => status === 'passed');

const folderOf = (path: string) => path.split('/').slice(0, -1).join('/');
const sameLayout = (a: Program, b: Program) =>
  folderOf(a.sourcePath) === folderOf(b.sourcePath) && folderOf(a.testPath) === folderOf(b.testPath);

/** One bug a module; what hangs or goes unnoticed is left out. */
async function planBugs(rng: Rng, programs: readonly Program[], flavour: Flavour): Promise<Plan[]> {
  const drafts = programs.flatMap((program) => {
    for (let attempt = 0; attempt < 6; attempt += 1) {
      const bug = randomMutation(rng, program.sourcePath, program.source);
      if (bug === null) continue;
      if (flavour !== 'python') {
        const count = quickCount(program, bug.source);
        if (count === null || count.failed === 0 || count.passed === 0) continue;
      }
      return [{ program, operator: bug.operator, buggy: bug.source }];
    }
    return [];
  });
  if (flavour !== 'python') return drafts;
  const fine = pythonEndsWell(drafts.map(({ program, buggy }) => ({ program, source: buggy })));
  return drafts.filter((_, i) => fine[i]!);
}

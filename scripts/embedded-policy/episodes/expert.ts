import type { Suspect } from '../../../src/env/suspects/rankSuspects.js';
import { injectionStatement } from '../../../src/env/tasks/statement.js';
import { chosen, renderChoice } from '../../../src/env/tools/choose.js';
import { systemPrompt } from '../../../src/env/tools/prompts.js';
import { SUBMITTED } from '../../../src/env/tools/submit.js';
import { renderSuggestions } from '../../../src/env/tools/suggest.js';
import { nextSuspect, renderSuspects } from '../../../src/env/tools/suspects.js';
import { toolSchemas } from '../../../src/env/tools/tools.js';
import type { TestResult } from '../../../src/env/testing/testRunner.js';
import { suggestedFix } from '../../../src/trainer/warmStart/suggestedFix.js';
import { toolCall } from '../../../src/trainer/warmStart/turnText.js';
import type { Rng } from '../programs/rng.js';
import type { EpisodeTurn, ExpertEpisode } from './episode.js';

/** A bug in a file of a small repository, and what its tests say of it. */
export interface Situation {
  readonly repo: string;
  readonly language: string;
  readonly operator: string;
  readonly path: string;
  readonly fixed: string;
  readonly failing: readonly Pick<TestResult, 'id' | 'message'>[];
  /** How many tests pass beside those that fail. */
  readonly passed: number;
  readonly suspects: readonly Suspect[];
  /** Texts of files with suspects, by path, the buggy one's too. Where one is missing, its suspects are never looked at. */
  readonly texts: ReadonlyMap<string, string>;
}

/** Part of the episodes in which the change that mends the bug is not the first; and of those, the second; and so on. */
const PART_THAT_FAILS = 0.65;
const MOST_ATTEMPTS = 10;
const MOST_PAGES = 3;

/**
 * Plays an expert's episode against what the tools would have answered: to the function at fault, by way of others now and then, and
 * through the changes that are suggested for it. What is tried in vain is seen, and not learned. Null where no small change mends the bug.
 */
export function playExpert(rng: Rng, situation: Situation): ExpertEpisode | null {
  const { path, fixed, suspects, texts } = situation;
  const fix = suggestedFix(suspects, path, texts.get(path)!, fixed);
  if (fix === null) return null;
  const scene = new Scene(rng, situation);
  scene.listSuspects();
  for (const other of others(rng, situation, fix.suspect)) {
    scene.suggest(other, false);
    scene.tryInVain(other, rng.int(1, 5), null);
  }
  if (!scene.listSuspectsTo(fix.suspect)) return null;
  scene.suggest(fix.suspect);
  let failures = 0;
  while (failures < MOST_ATTEMPTS && rng.chance(PART_THAT_FAILS)) failures += 1;
  scene.tryInVain(fix.suspect, failures, fix.number);
  scene.choose(fix.suspect, fix.number, `${situation.passed + situation.failing.length} passed, 0 failed`, true);
  scene.call('submit', {}, SUBMITTED);
  return {
    language: situation.language,
    operator: situation.operator,
    system: systemPrompt(toolSchemas),
    user: injectionStatement(situation.repo, situation.failing, []),
    turns: scene.turns,
  };
}

/** Numbers of functions that are looked at in vain, mostly such as stand before the one at fault. */
function others(rng: Rng, { suspects, texts }: Situation, atFault: number): readonly number[] {
  const count = rng.pick(atFault === 1 ? [0, 0, 0, 1, 2] : [0, 0, 1, 1, 2, 3]);
  const known = suspects.flatMap(({ path }, index) => (texts.has(path) && index + 1 !== atFault ? [index + 1] : []));
  const before = known.filter((number) => number < atFault);
  const pool = before.length > 0 && rng.chance(0.8) ? before : known.slice(0, 6);
  return rng
    .shuffle(pool)
    .slice(0, count)
    .sort((a, b) => a - b);
}

class Scene {
  readonly turns: EpisodeTurn[] = [];
  private readonly tried = new Map<number, Set<number>>();
  private listed = '';

  constructor(
    private readonly rng: Rng,
    private readonly situation: Situation,
  ) {}

  call(name: string, args: Readonly<Record<string, unknown>>, content: string, train = true): void {
    this.turns.push({ raw: toolCall(name, args), train, observations: [{ name, content }] });
  }

  listSuspects(from?: number): void {
    this.listed = renderSuspects(this.situation.suspects, from);
    this.call('suspects', from === undefined ? {} : { from }, this.listed);
  }

  /** Asks on until a suspect is among those listed; false where it stands too far down. */
  listSuspectsTo(number: number): boolean {
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      const next = nextSuspect(this.listed);
      if (next === null || number < next) return true;
      this.listSuspects(next);
    }
    return false;
  }

  suggest(number: number, train = true): void {
    const list = renderSuggestions(this.situation.suspects[number - 1]!, this.textOf(number));
    this.call('suggest', { function: number }, list, train);
  }

  /** Other changes of those that are listed, none twice. */
  tryInVain(suspect: number, attempts: number, right: number | null): void {
    const tried = this.tried.get(suspect) ?? new Set<number>();
    this.tried.set(suspect, tried);
    const numbers = this.situation.suspects[suspect - 1]!.changes.map((_, index) => index + 1);
    const left = this.rng.shuffle(numbers.filter((number) => number !== right && !tried.has(number)));
    for (const number of left.slice(0, attempts)) {
      tried.add(number);
      this.choose(suspect, number, failsStill(this.rng, this.situation), false);
    }
  }

  choose(suspect: number, number: number, headline: string, train: boolean): void {
    const changed = chosen(this.situation.suspects[suspect - 1]!, this.textOf(suspect), number);
    if ('problem' in changed) throw new Error(changed.problem);
    this.call('choose', { function: suspect, number }, renderChoice(headline, changed.told), train);
  }

  private textOf(number: number): string {
    return this.situation.texts.get(this.situation.suspects[number - 1]!.path)!;
  }
}

/** What the tests say after a change that mends nothing, or not all, or breaks more. */
function failsStill(rng: Rng, { failing, passed }: Situation): string {
  const kind = rng.next();
  if (kind < 0.02) return 'The tests timed out.';
  if (kind < 0.04) return 'The test run crashed before it gave results.';
  const failed =
    kind < 0.5 ? failing.length : kind < 0.62 ? rng.int(1, failing.length) : failing.length + rng.int(0, passed);
  return `${passed + failing.length - failed} passed, ${failed} failed`;
}

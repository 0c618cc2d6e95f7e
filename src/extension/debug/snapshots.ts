import type { FileChange, SteppedReplay, SteppedTurn } from '../replay/steppedReplay.js';

/** A state of the files: at the end of a turn (0: the start tree), or as the task's oracle would leave them. */
export type Place = number | 'oracle';

/** A file that is not the same in two places; null where it is not there. */
export interface FileDifference {
  readonly path: string;
  readonly from: string | null;
  readonly to: string | null;
}

/**
 * What a replay found, kept turn by turn: each turn is played once, forwards, when it is first asked for. Going back only
 * looks at what was kept, so that a turn is the same at every visit.
 */
export class Snapshots {
  private readonly played: SteppedTurn[] = [];
  private playing?: Promise<void>;
  private isOver = false;

  constructor(private readonly replay: SteppedReplay) {}

  /** Turns are counted from 1; undefined where the episode is over before. */
  async turn(number: number): Promise<SteppedTurn | undefined> {
    while (this.played.length < number && !this.isOver) {
      this.playing ??= this.playNext().finally(() => (this.playing = undefined));
      await this.playing;
    }
    return this.known(number);
  }

  /** A turn that has been played. */
  known(number: number): SteppedTurn | undefined {
    return this.played.at(number < 1 ? Infinity : number - 1);
  }

  get task(): string {
    return this.replay.opened.task;
  }

  get sandbox(): string {
    return this.replay.opened.sandbox;
  }

  /** Changes against the start tree. */
  changes(place: Place): readonly FileChange[] {
    return place === 'oracle' ? this.replay.opened.oracle : (this.known(place)?.changes ?? []);
  }

  /** Paths of all files, with `/`, sorted. */
  files(place: Place): string[] {
    const files = new Set(this.replay.opened.files);
    for (const { path, after } of this.changes(place)) {
      if (after === null) files.delete(path);
      else files.add(path);
    }
    return [...files].sort();
  }

  /** Null where it is no text file or is not there. */
  async text(place: Place, path: string): Promise<string | null> {
    const changed = this.changes(place).find((change) => change.path === path);
    if (changed) return changed.after;
    const elsewhere = this.played.flatMap(({ changes }) => changes).find((change) => change.path === path);
    return elsewhere ? elsewhere.before : this.replay.startText(path);
  }

  /** Files that differ between two places, sorted by path. */
  differences(from: Place, to: Place): FileDifference[] {
    const before = new Map(this.changes(from).map((change) => [change.path, change]));
    const after = new Map(this.changes(to).map((change) => [change.path, change]));
    const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
    return paths
      .map((path) => {
        const start = (before.get(path) ?? after.get(path))?.before ?? null;
        const side = (changes: ReadonlyMap<string, FileChange>) => {
          const change = changes.get(path);
          return change ? change.after : start;
        };
        return { path, from: side(before), to: side(after) };
      })
      .filter((difference) => difference.from !== difference.to);
  }

  close(): Promise<void> {
    return this.replay.close();
  }

  private async playNext(): Promise<void> {
    const turn = await this.replay.next();
    if (turn === null) this.isOver = true;
    else this.played.push(turn);
  }
}

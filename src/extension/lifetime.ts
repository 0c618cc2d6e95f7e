import type { Disposable } from 'vscode';

/** A named span of time that things live in. What is added after its end is disposed of at once. */
export class Lifetime implements Disposable {
  private readonly items = new Set<Disposable>();
  private ended = false;

  constructor(
    readonly name: string,
    private readonly parent?: Lifetime,
  ) {}

  add<T extends Disposable>(item: T): T {
    if (this.ended) item.dispose();
    else this.items.add(item);
    return item;
  }

  /** A shorter span inside of this one. */
  child(name: string): Lifetime {
    return this.add(new Lifetime(name, this));
  }

  dispose(): void {
    this.ended = true;
    this.parent?.items.delete(this);
    const items = [...this.items].reverse();
    this.items.clear();
    for (const item of items) item.dispose();
  }
}

import type { Disposable } from 'vscode';

/** A named span of time that things live in. What is added after its end is disposed of at once. */
export class Lifetime implements Disposable {
  private readonly items = new Set<Disposable>();
  private ended = false;

  constructor(readonly name: string) {}

  add<T extends Disposable>(item: T): T {
    if (this.ended) item.dispose();
    else this.items.add(item);
    return item;
  }

  dispose(): void {
    this.ended = true;
    const items = [...this.items].reverse();
    this.items.clear();
    for (const item of items) item.dispose();
  }
}

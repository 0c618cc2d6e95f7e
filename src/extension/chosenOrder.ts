import type * as vscode from 'vscode';
import { ordered, orderOf, type Order } from './orders.js';
import { pickOne } from './quickPick.js';
import { t } from './translate.js';

/** The order that the user chose for a view; the workspace remembers it over a reload of the window. */
export class ChosenOrder<Thing> {
  constructor(
    private readonly memory: vscode.Memento,
    private readonly key: string,
    private readonly orders: readonly Order<Thing>[],
  ) {}

  get current(): Order<Thing> {
    return orderOf(this.orders, this.memory.get<string>(this.key));
  }

  /** In words; undefined where it is the order that nobody chose. */
  get words(): string | undefined {
    return this.current === this.orders[0] ? undefined : this.current.title();
  }

  apply(things: readonly Thing[]): readonly Thing[] {
    return ordered(things, this.current);
  }

  async choose(id: string): Promise<void> {
    await this.memory.update(this.key, id);
  }

  /** Lets the user choose; false where they left without an answer. */
  async pick(title: string): Promise<boolean> {
    const { current } = this;
    const items = this.orders.map((order) => ({
      label: order.title(),
      description: order === current ? t('now') : undefined,
      order,
    }));
    const picked = await pickOne(items, { title, placeHolder: t('What comes first') });
    if (picked) await this.choose(picked.order.id);
    return picked !== undefined;
  }
}

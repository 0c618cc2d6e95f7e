import { randomUUID } from 'node:crypto';
import { badInput } from '../../trajectory/errors.js';
import type { Task } from '../../trajectory/task.js';
import { ProtocolError, type Reset } from './messages.js';
import { Session, type SessionOptions } from './session.js';

export interface PoolOptions extends Pick<SessionOptions, 'groundsOf'> {
  /** Sessions at the same time. */
  readonly capacity: number;
}

/** The sessions that are open, never more than the capacity; and which task each reset plays. */
export class SessionPool {
  private readonly open = new Set<Session>();
  private readonly closing = new Set<Promise<void>>();
  private next = { train: 0, heldout: 0 };
  opened = 0;
  refused = 0;

  constructor(
    private readonly tasks: readonly Task[],
    readonly options: PoolOptions,
  ) {
    if (tasks.length === 0) throw badInput('There is no task to serve.', 'Build some with `whetstone tasks build`.');
  }

  get active(): number {
    return this.open.size + this.closing.size;
  }

  /** Throws CAPACITY_REACHED. A session counts until its worktree is gone. */
  openSession(): Session {
    const { capacity, groundsOf } = this.options;
    if (this.active >= capacity) {
      this.refused += 1;
      throw new ProtocolError('CAPACITY_REACHED', `All ${capacity} sessions are taken.`, {
        active_sessions: Math.min(this.active, capacity),
        max_sessions: capacity,
      });
    }
    this.opened += 1;
    const chooseTask = (reset: Reset) => this.chooseTask(reset);
    const session = new Session(randomUUID(), { groundsOf, chooseTask });
    this.open.add(session);
    return session;
  }

  async closeSession(session: Session): Promise<void> {
    if (!this.open.delete(session)) return;
    const closing = session.dispose();
    this.closing.add(closing);
    await closing.finally(() => this.closing.delete(closing));
  }

  async dispose(): Promise<void> {
    await Promise.allSettled([...[...this.open].map((session) => this.closeSession(session)), ...this.closing]);
  }

  tasksOf(split: Task['whetstone']['split']): readonly Task[] {
    return this.tasks.filter(({ whetstone }) => whetstone.split === split);
  }

  private chooseTask({ task_id, seed, split }: Reset): Task {
    if (task_id !== undefined && task_id !== null) {
      const named = this.tasks.find(({ instance_id }) => instance_id === task_id);
      if (named !== undefined) return named;
      throw new ProtocolError('VALIDATION_ERROR', `There is no task ${JSON.stringify(task_id.slice(0, 200))}.`);
    }
    const side = split ?? 'train';
    const choice = this.tasksOf(side);
    if (choice.length === 0) throw new ProtocolError('VALIDATION_ERROR', `There is no ${side} task.`);
    return choice[(seed ?? this.next[side]++) % choice.length];
  }
}

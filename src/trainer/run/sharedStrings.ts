import type { TrajectoryHeader } from './runRecord.js';

/** Holds equal strings of many headers once: parsed one by one, each would have its own copy of the task's id and the tools' names. */
export class SharedStrings {
  private readonly strings = new Map<string, string>();
  private readonly lists = new Map<string, readonly string[]>();

  inHeader(header: TrajectoryHeader): TrajectoryHeader {
    const { kind, taskId, stopReason, sandbox, tools } = header;
    return {
      ...header,
      kind: this.of(kind),
      taskId: this.of(taskId),
      stopReason: this.of(stopReason),
      sandbox: this.of(sandbox),
      tools: this.list(tools),
    };
  }

  private of<T extends string>(text: T): T {
    const known = this.strings.get(text) as T | undefined;
    if (known === undefined) this.strings.set(text, text);
    return known ?? text;
  }

  private list(names: readonly string[]): readonly string[] {
    const key = names.join('\n');
    const known = this.lists.get(key);
    if (known === undefined) this.lists.set(key, names);
    return known ?? names;
  }
}

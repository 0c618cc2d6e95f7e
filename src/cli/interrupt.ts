/**
 * Runs `work` with a signal that Ctrl-C, a termination or a closed terminal aborts, so that everything it opened is
 * closed in order. A second Ctrl-C ends the process at once.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const interrupt = () => {
    if (controller.signal.aborted) process.exit(1);
    controller.abort();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, interrupt);
  try {
    return await work(controller.signal);
  } finally {
    for (const name of signals) process.off(name, interrupt);
  }
}

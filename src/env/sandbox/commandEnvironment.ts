/**
 * The whole environment that a command is given: an allow-list, so that no secret of the user's reaches it, and fixed
 * values, so that the same command prints the same. NO_COLOR stands alone: beside FORCE_COLOR, Node prints a warning.
 */
export function commandEnvironment(options: {
  readonly path: string;
  readonly home: string;
  readonly temporary: string;
  readonly extra?: Readonly<Record<string, string>>;
}): Record<string, string> {
  return {
    PATH: options.path,
    HOME: options.home,
    TMPDIR: options.temporary,
    LANG: 'C.UTF-8',
    LC_ALL: 'C.UTF-8',
    TZ: 'UTC',
    TERM: 'dumb',
    CI: '1',
    NO_COLOR: '1',
    PYTHONHASHSEED: '0',
    PYTHONDONTWRITEBYTECODE: '1',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_PAGER: 'cat',
    PAGER: 'cat',
    ...windowsVariables(),
    ...options.extra,
  };
}

/** Without these no program starts on Windows. */
function windowsVariables(): Record<string, string> {
  if (process.platform !== 'win32') return {};
  const names = ['SystemRoot', 'ComSpec', 'PATHEXT'];
  return Object.fromEntries(names.map((name) => [name, process.env[name] ?? '']));
}

/**
 * The program's arguments, so started that both its outputs go into one pipe (only then do they come in the order in
 * which they were written), it leaves no core dump, and no file of it grows beyond 1 GiB. The arguments are passed on as
 * they are, never as text of the shell's. `maxProcesses` is for where the user's other processes do not count (dash
 * calls that limit p, other shells u; the kernel spares the machine's superuser).
 */
export function withJoinedOutput(argv: readonly string[], maxProcesses?: number): string[] {
  if (process.platform === 'win32') return [...argv];
  const processes =
    maxProcesses === undefined ? '' : `ulimit -u ${maxProcesses} 2>/dev/null || ulimit -p ${maxProcesses}; `;
  const setUp = `ulimit -c 0; ulimit -f 2097152; ${processes}exec "$@" 2>&1`;
  return ['/bin/sh', '-c', setUp, 'sh', ...argv];
}

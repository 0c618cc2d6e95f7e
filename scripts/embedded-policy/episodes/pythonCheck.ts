import { spawnSync } from 'node:child_process';
import type { TestedSource } from './realRuns.js';

/** Loads a module and its tests and plays every test, with a second's alarm; prints 1 where that came to an end. */
const CHECK = `
import json, re, signal, sys
def stop(*_): raise TimeoutError()
signal.signal(signal.SIGALRM, stop)
class Raises:
    def __init__(self, kind): self.kind = kind
    def __enter__(self): return self
    def __exit__(self, kind, *_): return kind is not None and issubclass(kind, self.kind)
for line in sys.stdin:
    item = json.loads(line)
    space = {"pytest": type("pytest", (), {"raises": Raises})}
    fine = 1
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        exec(item["source"], space)
        exec(re.sub(r"(?m)^(import|from) .*$", "", item["test"]), space)
        for name, test in list(space.items()):
            if name.startswith("test_"):
                try: test()
                except TimeoutError: raise
                except Exception: pass
    except BaseException:
        fine = 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    print(fine)
`;

/** Which of these come to an end: pytest itself would wait for the others without limit. */
export function pythonEndsWell(items: readonly TestedSource[]): boolean[] {
  const input = items.map(({ program, source }) => JSON.stringify({ source, test: program.test })).join('\n') + '\n';
  const run = spawnSync('python3', ['-c', CHECK], { input, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (run.status !== 0) throw new Error(`python3 could not check the modules: ${run.stderr}`);
  return run.stdout
    .trim()
    .split('\n')
    .map((line) => line === '1');
}

import { execFileSync } from 'node:child_process';

const found = new Map<string, string | null>();

/**
 * For tests only: a Python that has the package, or null. It is looked for in the environment's WHETSTONE_TEST_PYTHONS (paths
 * with a colon between them) and on PATH.
 */
export function pythonWith(packageName: string): string | null {
  const known = found.get(packageName);
  if (known !== undefined) return known;
  const named = (process.env.WHETSTONE_TEST_PYTHONS ?? '').split(':').filter((name) => name !== '');
  const python = [...named, 'python3'].find((candidate) => has(candidate, packageName)) ?? null;
  found.set(packageName, python);
  return python;
}

function has(python: string, packageName: string): boolean {
  const code = 'import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)';
  try {
    execFileSync(python, ['-c', code, packageName], { stdio: 'ignore', timeout: 20_000 });
    return true;
  } catch {
    return false;
  }
}

/** Steps of a container recipe that install what a repository's tests need, by the files at its root. */
export function dependencySteps(rootFiles: readonly string[]): string[] {
  const has = (name: string) => rootFiles.includes(name);
  const steps: string[] = [];
  if (has('package-lock.json') || has('npm-shrinkwrap.json')) steps.push('RUN npm ci');
  else if (has('pnpm-lock.yaml')) steps.push('RUN npx --yes pnpm install --frozen-lockfile');
  else if (has('yarn.lock')) steps.push('RUN npx --yes yarn install --frozen-lockfile');
  else if (has('package.json')) steps.push('RUN npm install');
  if (['pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt'].some(has)) {
    const sources = [
      ...(has('requirements.txt') ? ['-r requirements.txt'] : []),
      ...(has('pyproject.toml') || has('setup.py') ? ['-e .'] : []),
    ];
    steps.push(`RUN python3 -m venv .venv && .venv/bin/pip install ${['pytest', ...sources].join(' ')}`);
  }
  const others = {
    'go.mod': 'Go',
    'Cargo.toml': 'Rust',
    'pom.xml': 'Java and Maven',
    'build.gradle': 'Java and Gradle',
  };
  for (const [file, tools] of Object.entries(others)) {
    if (has(file)) steps.push(`# This repository has a ${file}: install ${tools} here.`);
  }
  return steps;
}

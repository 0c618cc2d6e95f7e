import { stringify } from 'smol-toml';
import type { Task } from '../../trajectory/task.js';
import { dependencySteps } from './dependencySteps.js';

export interface HarborLimits {
  readonly agentSeconds: number;
  readonly testSeconds: number;
}

/**
 * The text files of a Harbor task, by path. Beside them it holds `environment/repository/` (the start tree's files),
 * `tests/task.bundle` (its commits) and `tests/state/` (the task as Whetstone stores it).
 *
 * The tests are Whetstone's own grading, of what the agent left in `/app` against the start tree: the same reward as here.
 */
export function harborFiles(
  task: Task,
  commits: { readonly base: string; readonly start: string },
  rootFiles: readonly string[],
  { agentSeconds, testSeconds }: HarborLimits,
): Readonly<Record<string, string>> {
  return {
    'task.toml': stringify({
      schema_version: '1.4',
      task: { name: `whetstone/${packageName(task.instance_id)}`, description: 'Make the failing tests pass.' },
      metadata: {
        instance_id: task.instance_id,
        repo: task.repo,
        source: task.whetstone.source,
        split: task.whetstone.split,
      },
      agent: { timeout_sec: agentSeconds },
      // The tests run twice where the patch breaks them: once more without it.
      verifier: { timeout_sec: 60 + 2 * testSeconds },
      environment: { workdir: '/app' },
    }),
    'instruction.md': `${task.problem_statement.trimEnd()}\n\nThe repository is in /app. Change its source so that the failing tests pass; changes to tests do not count.\n`,
    'environment/Dockerfile': dockerfile(rootFiles),
    'tests/test.sh': testScript(task, commits),
    'solution/solve.sh':
      '#!/bin/bash\nset -e\ncd "${WHETSTONE_APP:-/app}"\ngit apply --whitespace=nowarn "$(dirname "$0")/oracle.patch"\n',
    'solution/oracle.patch': task.patch,
  };
}

/** What a package of Harbor may be called. */
const packageName = (id: string) =>
  id
    .replace(/[^a-zA-Z0-9._-]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^[^a-zA-Z0-9]+/, '');

function dockerfile(rootFiles: readonly string[]): string {
  return [
    "# Build the image that holds `whetstone` once, from Whetstone's own Containerfile, and tag it `whetstone`.",
    'ARG WHETSTONE_IMAGE=whetstone:latest',
    'FROM ${WHETSTONE_IMAGE}',
    'COPY repository/ /app/',
    'WORKDIR /app',
    'RUN git init --quiet && git add --all --force \\',
    ' && git -c user.name=Whetstone -c user.email=whetstone@localhost commit --quiet --message=Start',
    ...dependencySteps(rootFiles),
    '# The dependencies as they are now, for grading: the agent may change those in /app.',
    'RUN mkdir -p /opt/whetstone/dependencies \\',
    ' && for name in node_modules .venv vendor; do if [ -d "$name" ]; then cp -a "$name" /opt/whetstone/dependencies/; fi; done',
    '',
  ].join('\n');
}

function testScript(task: Task, { base, start }: { readonly base: string; readonly start: string }): string {
  return `#!/bin/bash
# Grades what was left in /app as Whetstone does, in a tree that the agent never had.
set -euo pipefail
app=\${WHETSTONE_APP:-/app}
logs=\${WHETSTONE_LOGS:-/logs/verifier}
dependencies=\${WHETSTONE_DEPENDENCIES:-/opt/whetstone/dependencies}
tests=$(cd "$(dirname "$0")" && pwd)
grader=$(mktemp -d)
trap 'rm -rf "$grader"' EXIT
mkdir -p "$logs"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_LITERAL_PATHSPECS=1

git init --quiet --template= "$grader/repository"
cd "$grader/repository"
git fetch --quiet "$tests/task.bundle" 'refs/heads/*:refs/heads/*'
git checkout --quiet --detach ${base}
cp -R "$tests/state" .whetstone
if [ -d "$dependencies" ]; then cp -a "$dependencies/." .; fi

# The agent's own .git is not asked. Binary files do not count.
agent() { GIT_DIR="$grader/repository/.git" GIT_WORK_TREE="$app" GIT_INDEX_FILE="$grader/index" git "$@"; }
agent read-tree ${start}
agent -c core.excludesFile=/dev/null -C "$app" add --all
agent diff --cached --no-renames --numstat -z ${start} | sed -z '/^-/d; s/^[^\\t]*\\t[^\\t]*\\t//' > "$grader/changed"
if [ -s "$grader/changed" ]; then
  GIT_DIR="$grader/repository/.git" GIT_WORK_TREE="$app" GIT_INDEX_FILE="$grader/index" \\
    xargs -0 -a "$grader/changed" git -C "$app" diff --cached --no-renames --no-ext-diff --no-textconv ${start} -- > "$grader/patch"
else
  : > "$grader/patch"
fi

\${WHETSTONE:-whetstone} grade --repo . --task '${task.instance_id}' --patch "$grader/patch" \\
  --sandbox "\${WHETSTONE_SANDBOX:-unconfined}" --json > "$logs/grade.json"
node -e 'const grade = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
require("fs").writeFileSync(process.argv[2], JSON.stringify({ reward: grade.reward, resolved: grade.resolved ? 1 : 0 }));' \\
  "$logs/grade.json" "$logs/reward.json"
`;
}

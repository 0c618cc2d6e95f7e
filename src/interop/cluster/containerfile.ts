import { dependencySteps } from '../export/dependencySteps.js';

/**
 * The recipe of an image that holds the repository, its dependencies, its tasks and the server; `repository.bundle` and
 * `state/` lie beside it.
 */
export function serverContainerfile(rootFiles: readonly string[], commit: string): string {
  return [
    "# First build Whetstone's own Containerfile, tagged `whetstone`. Then, in this folder:",
    '#     podman build -t whetstone-tasks .',
    '#     podman run -p 8000:8000 -e WHETSTONE_TOKEN=... --security-opt seccomp=unconfined --cap-add SYS_ADMIN whetstone-tasks',
    '# The two options let bubblewrap confine each session. Where they are not allowed, add `--sandbox unconfined --sessions 1`',
    '# at the end: the container is then the only wall.',
    'ARG WHETSTONE_IMAGE=whetstone:latest',
    'FROM ${WHETSTONE_IMAGE}',
    'COPY repository.bundle /tmp/repository.bundle',
    `RUN git clone --quiet /tmp/repository.bundle /repository && git -C /repository checkout --quiet --detach ${commit} \\`,
    ' && rm /tmp/repository.bundle',
    'WORKDIR /repository',
    ...dependencySteps(rootFiles),
    'COPY state/tasks/ /repository/.whetstone/tasks/',
    'EXPOSE 8000',
    'ENTRYPOINT ["whetstone", "serve", "--openenv", "--repo", "/repository", "--host", "0.0.0.0"]',
    '',
  ].join('\n');
}

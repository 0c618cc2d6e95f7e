import { readdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildJanitor, TemporaryFolders } from '../fixtureRepository.testing.js';
import { Janitor } from './janitorClient.js';
import { probeSandbox } from './probeSandbox.js';
import { runningWith } from './runningWith.testing.js';
import type { Sandbox, SandboxCommand, SandboxKind, SandboxView } from './sandbox.js';
import { usableKinds } from './usableKinds.testing.js';

const temporary = new TemporaryFolders();
const isContainer = (kind: SandboxKind) => kind === 'podman' || kind === 'docker';
const kinds = await usableKinds();
const remounting = kinds.filter((kind) => kind === 'bubblewrap' || isContainer(kind));
const janitor = new Janitor();

beforeAll(async () => janitor.start(await buildJanitor(await temporary.folder())));
afterAll(async () => {
  await janitor.stop();
  await temporary.remove();
});

interface Room {
  readonly sandbox: Sandbox;
  readonly view: SandboxView;
  readonly repo: string;
}

async function makeRoom(kind: SandboxKind): Promise<Room> {
  const repo = await temporary.folder('repo');
  const stateFolder = path.join(repo, '.whetstone');
  const worktree = path.join(stateFolder, 'worktrees', '1-1', 'tree');
  await mkdir(worktree, { recursive: true });
  await writeFile(path.join(repo, 'private.txt'), "the user's own\n");
  const { sandbox } = await probeSandbox(kind, { repoRoot: repo, stateFolder, janitor });
  const mountPath = sandbox.remounts ? repo : worktree;
  return { sandbox, repo, view: { worktree, mountPath, readOnly: [], writable: [] } };
}

const shell = (text: string, options: Partial<SandboxCommand> = {}): SandboxCommand => ({
  argv: ['/bin/sh', '-c', text],
  cwd: '.',
  timeoutMs: 20_000,
  maxOutputBytes: 10_000,
  ...options,
});

describe.each(kinds)('a command in the sandbox %s', (kind) => {
  let room: Room;
  beforeAll(async () => {
    room = await makeRoom(kind);
  });
  const run = (command: SandboxCommand) => room.sandbox.run(room.view, command);

  it('gives both outputs in the order in which they were written, and the exit code', async () => {
    const result = await run(shell('echo one; echo two >&2; echo three; exit 7'));
    expect(result).toMatchObject({
      outcome: 'exited',
      exitCode: 7,
      output: 'one\ntwo\nthree\n',
      outputTruncated: false,
    });
  });

  it('passes arguments on as they are', async () => {
    const words = ['a b', `"'`, '$HOME', '*', '', '日本', '--', 'new\nline'];
    const code = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))';
    const result = await run(shell('', { argv: ['node', '-e', code, '--', ...words] }));
    expect(JSON.parse(result.output)).toEqual(words);
  });

  it('runs in the folder asked for and writes into the worktree', async () => {
    await mkdir(path.join(room.view.worktree, 'inner'), { recursive: true });
    await run(shell('echo hello > made.txt', { cwd: 'inner' }));
    expect(await readFile(path.join(room.view.worktree, 'inner/made.txt'), 'utf8')).toBe('hello\n');
  });

  it('gets an environment that holds only what is on the list', async () => {
    process.env.WHETSTONE_TEST_TOKEN = 'a secret';
    const result = await run(shell('env; echo "home is $HOME"', { env: { EXTRA: '1' } }));
    delete process.env.WHETSTONE_TEST_TOKEN;
    expect(result.output).not.toContain('a secret');
    expect(result.output).toMatch(/^EXTRA=1$/m);
    expect(result.output).toMatch(/^TZ=UTC$/m);
    expect(result.output).not.toContain(`home is ${homedir()}\n`);
  });

  it('is ended in time, with children that left its group and its session', async () => {
    const mark = `31415.${kinds.indexOf(kind)}${process.pid}`;
    const escape = `setsid sh -c 'setsid sleep ${mark} & setsid sleep ${mark} &' ; sleep ${mark}`;
    const result = await run(shell(`echo before; ${escape}`, { timeoutMs: 1500 }));
    expect(result).toMatchObject({ outcome: 'timed-out', exitCode: null, output: 'before\n' });
    expect(runningWith(mark)).toEqual([]);
  });

  it('leaves no child behind when it ends by itself, and does not wait for one that holds the output open', async () => {
    const mark = `27182.${kinds.indexOf(kind)}${process.pid}`;
    const result = await run(shell(`setsid sleep ${mark} & echo done`));
    expect(result).toMatchObject({ outcome: 'exited', exitCode: 0, output: 'done\n' });
    expect(runningWith(mark)).toEqual([]);
  });

  it('leaves no child behind that emptied its environment', async () => {
    const mark = `16180.${kinds.indexOf(kind)}${process.pid}`;
    const result = await run(shell(`env -i setsid sh -c 'sleep ${mark} >/dev/null 2>&1 &'; echo done`));
    expect(result).toMatchObject({ outcome: 'exited', exitCode: 0, output: 'done\n' });
    expect(runningWith(mark)).toEqual([]);
  });

  it('is bounded in what it prints, and keeps the beginning and the end', async () => {
    const result = await run(shell('echo first; head -c 30000000 /dev/zero | tr "\\0" x; echo; echo last'));
    expect(result.outputTruncated).toBe(true);
    expect(result.output.length).toBeLessThan(11_000);
    expect(result.output).toMatch(/^first\nx[^]*bytes cut[^]*x\nlast\n$/);
  });

  it('never stops printing and is still ended in time', async () => {
    const result = await run(shell('yes', { timeoutMs: 1000 }));
    expect(result.outcome).toBe('timed-out');
    expect(result.output.startsWith('y\ny\n')).toBe(true);
  });

  it('is cancelled by its signal', async () => {
    const abort = new AbortController();
    const mark = `16180.${kinds.indexOf(kind)}${process.pid}`;
    const promise = run(shell(`sleep ${mark}`, { signal: abort.signal }));
    setTimeout(() => abort.abort(), 300);
    expect((await promise).outcome).toBe('cancelled');
    expect(runningWith(mark)).toEqual([]);
    expect((await run(shell('true', { signal: abort.signal }))).outcome).toBe('cancelled');
  });

  it('that does not exist is an answer of the shell, not an error', async () => {
    const result = await run(shell('', { argv: ['no-such-program'] }));
    expect(result).toMatchObject({ outcome: 'exited', exitCode: 127 });
  });

  it('is ended when it takes more memory than it may', async () => {
    const code = 'const all = []; for (;;) all.push(Buffer.alloc(64 * 1024 * 1024, 1));';
    const result = await run(shell('', { argv: ['node', '-e', code] }));
    expect(result).toMatchObject({ outcome: 'exited', exitCode: null });
    expect(result.output).toContain('of memory');
  });
});

// A container's own limit keeps further processes from starting instead.
describe.each(kinds.filter((kind) => !isContainer(kind)))('a command in the sandbox %s', (kind) => {
  it('is ended when it starts more processes than it may, those that lost their parent too', async () => {
    const room = await makeRoom(kind);
    const mark = `14142.${kinds.indexOf(kind)}${process.pid}`;
    const orphans = `i=0; while [ $i -lt 600 ]; do (sleep ${mark} &); i=$((i+1)); done`;
    const result = await room.sandbox.run(room.view, shell(`${orphans}; sleep ${mark}`, { timeoutMs: 120_000 }));
    expect(result).toMatchObject({ outcome: 'exited', exitCode: null });
    expect(result.output).toContain('more than 512 processes');
    expect(runningWith(mark)).toEqual([]);
  });
});

describe.runIf(kinds.some(isContainer))('a container', () => {
  it('cannot start more processes than it may, and ends', async () => {
    const room = await makeRoom(kinds.find(isContainer)!);
    const mark = `14142.99${process.pid}`;
    const orphans = `i=0; while [ $i -lt 600 ]; do sleep ${mark} & i=$((i+1)); done; echo all`;
    const result = await room.sandbox.run(room.view, shell(orphans, { timeoutMs: 60_000 }));
    expect(result.output).toMatch(/fork/i);
    expect(result.output).not.toContain('all');
    expect(runningWith(mark)).toEqual([]);
  });
});

describe.each(remounting)('%s', (kind) => {
  let room: Room;
  beforeAll(async () => {
    room = await makeRoom(kind);
  });
  const output = async (text: string) => (await room.sandbox.run(room.view, shell(text))).output;

  it.each([
    ['when the command ends', 'echo done', 20_000],
    ['when it is ended', 'sleep 1000', 3000],
  ])(
    'ends, %s, what forked twice, took a session of its own, and shed its folder, environment, streams and signals',
    async (_, end, timeoutMs) => {
      const mark = `17320.${kinds.indexOf(kind)}${timeoutMs}${process.pid}`;
      const inner = `trap "" HUP INT QUIT TERM; (sleep ${mark} & sleep ${mark}) & sleep ${mark}`;
      const shed = `cd / && exec env -i setsid sh -c '(${inner}) </dev/null >/dev/null 2>&1 &'`;
      await room.sandbox.run(room.view, shell(`(${shed}) & sleep 1; ${end}`, { timeoutMs }));
      expect(runningWith(mark)).toEqual([]);
    },
  );

  // In a container it can.
  it.runIf(kind === 'bubblewrap')('does not let a program write to memory through the files of processes', async () => {
    const said = await output('test -r /proc/self/mem && echo there; (exec 3<> /proc/self/mem && echo open)');
    expect(said).toMatch(/^there\n[^]*Read-only/);
    expect(said).not.toMatch(/^open$/m);
  });

  it('shows the worktree in the place of the repository', async () => {
    expect(await output('pwd; ls -A')).toBe(`${room.repo}\n`);
    expect(await output(`cat '${room.repo}/private.txt'`)).toMatch(/No such file/);
  });

  it('has no network', async () => {
    const code = "require('net').connect(80, '1.1.1.1').on('error', (e) => console.log(e.code))";
    const result = await room.sandbox.run(room.view, shell('', { argv: ['node', '-e', code] }));
    expect(result.output).toMatch(/^(ENETUNREACH|EACCES)\n$/);
  });

  it('cannot read the home folder', async () => {
    const home = homedir();
    const shown = await output(
      `for f in '${home}'/.*rc '${home}'/.ssh '${home}'/.config '${home}'/.git*; do cat "$f"; done`,
    );
    for (const line of shown.trimEnd().split('\n')) expect(line).toMatch(/No such file/);
  });

  it('cannot write outside of the worktree, nor regain the right to', async () => {
    await output('touch /etc/whetstone /usr/whetstone; mount -o remount,rw,bind /; touch /usr/whetstone');
    expect([...readdirSync('/usr'), ...readdirSync('/etc')]).not.toContain('whetstone');
    expect(await output('grep CapEff /proc/self/status')).toMatch(/^CapEff:\s0+$/m);
  });

  it('sees no process of the machine', async () => {
    const pids = (await output('ls /proc')).split('\n').filter((name) => /^\d+$/.test(name));
    expect(pids.length).toBeLessThan(6);
  });

  it('is an infrastructure error where the sandbox itself cannot be set up', async () => {
    const view = { ...room.view, readOnly: [{ source: '/no/such/folder', target: '/no/such/folder' }] };
    await expect(room.sandbox.run(view, shell('true'))).rejects.toMatchObject({ kind: 'infrastructure' });
  });
});

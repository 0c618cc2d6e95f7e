import { createHash, randomUUID } from 'node:crypto';
import { appendFile, mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { badInput, WhetstoneError } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { explainFileError, git } from '../repo/git.js';
import type { Repository } from '../repo/repository.js';
import type { Janitor } from '../sandbox/janitorClient.js';
import { removeFolder } from '../sandbox/removeFolder.js';
import { copyTree } from './copyTree.js';
import { templatesFolder } from './stateFolders.js';

/** Changed whenever what lies in a template changes, so that older ones are not taken for current ones. */
const layout = 1;
/** Templates kept on the disk; the ones not used for longest are deleted when one more is made. */
const keptTemplates = 64;
const author = { name: 'Whetstone', email: 'whetstone@localhost', date: '2000-01-01T00:00:00Z' };

/**
 * Start trees on the disk, made once per (base tree, start patch) and then copied for each episode. Each holds a `.git` with
 * one commit of the start tree, the same bytes each time: the agent can use `git diff`, and no history, remote or reflog of
 * the user's is in reach.
 */
export class Templates {
  private readonly making = new Map<string, Promise<string>>();
  private readonly folder: string;

  constructor(
    private readonly repository: Repository,
    private readonly janitor: Janitor,
    /** A template that a tree still needs is not deleted. */
    private readonly isInUse: (template: string) => boolean = () => false,
  ) {
    this.folder = templatesFolder(repository.stateFolder);
  }

  /** Path of the template; never to be written. Those who ask at the same time for the same one share the making. */
  async get(baseTree: string, startPatch: string, signal?: AbortSignal): Promise<string> {
    const key = createHash('sha256').update(`${layout}\0${baseTree}\0${startPatch}`).digest('hex').slice(0, 32);
    const target = path.join(this.folder, key);
    if (await exists(target)) {
      const now = new Date();
      await utimes(target, now, now).catch(() => undefined);
      return target;
    }
    const making = this.making.get(key) ?? this.make(baseTree, startPatch, target, signal);
    this.making.set(key, making);
    try {
      return await making;
    } finally {
      this.making.delete(key);
    }
  }

  private async make(baseTree: string, startPatch: string, target: string, signal?: AbortSignal): Promise<string> {
    const draft = `${target}.${process.pid}-${randomUUID()}`;
    this.janitor.addFolder(draft);
    try {
      await mkdir(this.folder, { recursive: true });
      if (startPatch === '') {
        await this.repository.materializeTree(baseTree, draft, signal);
      } else {
        await copyTree(await this.get(baseTree, '', signal), draft);
        // The commit of the unpatched tree would show the patch to `git diff`.
        await rm(path.join(draft, '.git'), { recursive: true, force: true });
      }
      await commitOnce(draft, startPatch, signal);
      await rename(draft, target).catch(async (error: unknown) => {
        // Another process was faster: its template is the same.
        if (!(await exists(target))) throw error;
      });
    } catch (error) {
      throw explainFileError(error, 'write', this.folder);
    } finally {
      await removeFolder(draft);
      this.janitor.removeFolder(draft);
    }
    await this.deleteOldest();
    return target;
  }

  private async deleteOldest(): Promise<void> {
    const names = await readdir(this.folder);
    if (names.length <= keptTemplates) return;
    const ages = await Promise.all(
      names.map(async (name) => {
        const template = path.join(this.folder, name);
        return {
          template,
          used: await stat(template).then(
            (found) => found.mtimeMs,
            () => 0,
          ),
        };
      }),
    );
    ages.sort((a, b) => b.used - a.used);
    const old = ages.slice(keptTemplates).filter(({ template }) => !this.isInUse(template));
    for (const { template } of old) await removeFolder(template);
  }
}

/**
 * No reflog. A copied file keeps its time of change but not its inode: but for the two lines about that, git would read
 * every file again in each copy.
 */
const configuration = `[core]
\tlogAllRefUpdates = false
\tcheckStat = minimal
\ttrustctime = false
[user]
\tname = ${author.name}
\temail = ${author.email}
`;

/** Applies the patch and commits everything, with nothing of the user's configuration. */
async function commitOnce(folder: string, patch: string, signal?: AbortSignal): Promise<void> {
  const context = { folder, gitDir: path.join(folder, '.git'), workTree: folder, hermetic: true, author, signal };
  await git(context, ['init', '--quiet', '--template=', '--initial-branch=main', '.']);
  await appendFile(path.join(folder, '.git', 'config'), configuration);
  if (patch !== '') await applyPatch(context, patch);
  await git(context, ['add', '--all', '--force', '--', '.']);
  await git(context, ['commit', '--quiet', '--allow-empty', '--no-verify', '--message=Start']);
  await rm(path.join(folder, '.git', 'COMMIT_EDITMSG'), { force: true });
}

async function applyPatch(context: Parameters<typeof git>[0], patch: string): Promise<void> {
  try {
    await git({ ...context, input: patch.endsWith('\n') ? patch : `${patch}\n` }, [
      'apply',
      '--whitespace=nowarn',
      '-',
    ]);
  } catch (error) {
    if (error instanceof WhetstoneError && error.kind !== 'infrastructure') throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw badInput(say`The start patch does not apply to its tree: ${reason}`, 'Build the tasks again.', error);
  }
}

const exists = (name: string) =>
  stat(name).then(
    () => true,
    () => false,
  );

import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stopTrainings } from '../fixtures/stopTrainings.js';
import { Workbench } from '../ui/workbench.js';
import { Film } from './film.js';

export interface DemoOptions {
  readonly root: string;
  readonly node: string;
  readonly codeServer: string;
  /** The picture that is written, in `root`. */
  readonly target: string;
}

/** Short, since somebody waits: what is shown is real all the same. */
const settings = {
  'whetstone.device': 'cpu',
  'whetstone.steps': 2,
  'whetstone.tasksPerStep': 2,
  'whetstone.groupSize': 4,
};

/** Trains on the bundled repository as a user would, looks at what came out, and steps through a failed trajectory. */
export async function recordDemo({ root, node, codeServer, target }: DemoOptions): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'whetstone-demo-'));
  const folder = join(scratch, 'sums');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'pipe' });
  cpSync(join(root, 'test-fixtures/embedded-repo'), folder, { recursive: true });
  writeFileSync(join(folder, 'whetstone.config.json'), '{ "evaluationTasks": 2 }\n');
  git('init', '--quiet');
  git('add', '--all');
  git('-c', 'user.name=Demo', '-c', 'user.email=demo@example.org', 'commit', '--quiet', '--message=A small library');
  execFileSync(node, [join(root, 'dist/cli.cjs'), 'tasks', 'build', '--limit', '12'], {
    cwd: folder,
    stdio: 'inherit',
  });
  const workbench = await Workbench.open({ extension: root, folder, node, codeServer, settings });
  try {
    const { page } = workbench;
    const film = new Film(page);
    await workbench.palette('Whetstone: Train', 'Train on This Repo');
    await film.take('One command trains a policy on the open repository');
    await page.keyboard.press('Escape');
    await workbench.command('Whetstone: Train on This Repo');
    await workbench.showRuns();
    await workbench.row('running').waitFor();
    await workbench.unfold('running');
    await film.take('A background process plays tasks made from its code and tests');
    await workbench.row('completed').waitFor({ timeout: 900_000 });
    await workbench.unfold('Step 1');
    await workbench.unfold('of 4 solved');
    await workbench.row('Rollout 1').waitFor();
    await film.take('Every rollout comes with its reward', 3);
    await workbench.clickRow('Rollout 1');
    await page.locator('.view-line', { hasText: 'turn 1 · agent' }).first().waitFor();
    await film.take('A trajectory, token by token: what was sampled, what was read', 4);
    await workbench.command('Whetstone: Choose Token Colours');
    await workbench.pick('advantage');
    // Decorations follow a moment later.
    await page.waitForTimeout(2000);
    await film.take('Coloured by what the gradient made of each token', 3);
    await page.locator('.codelens-decoration a', { hasText: 'Step' }).first().click();
    await page.locator('.debug-toolbar').waitFor();
    await film.take('A failed one is stepped through like a program, in a fresh worktree', 3);
    for (let turn = 1; turn <= 2; turn++) {
      await page.keyboard.press('F10');
      await page.waitForTimeout(4000);
      await film.take(`Turn ${turn + 1}: arguments, observation, files as they were`, 2.5);
    }
    await page.keyboard.press('Shift+F5');
    await page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
    await workbench.command('Whetstone: Show Dashboard');
    await workbench.webview().locator('figcaption').first().waitFor();
    await film.take('Curves of everything, with the doctor’s findings', 3);
    await film.write(join(root, target));
  } catch (error) {
    await workbench.screenshot('demo-failure');
    throw error;
  } finally {
    await workbench.stop();
    await stopTrainings(folder);
    rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  }
}

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../harness/browser.js';
import { startCodeServer, workbenchUrl, type CodeServer } from '../harness/codeServer.js';

const patience = 30_000;

/** The workbench as a user has it in front of them. */
export class Workbench {
  private constructor(
    readonly page: Page,
    private readonly server: CodeServer,
    private readonly close: () => Promise<void>,
  ) {}

  static async open(options: {
    extension: string;
    folder: string;
    node: string;
    codeServer: string;
  }): Promise<Workbench> {
    const server = await startCodeServer({
      ...options,
      settings: { 'workbench.colorTheme': 'Dark Modern', 'editor.hover.delay': 100 },
    });
    const browser = await launchBrowser();
    const page = await browser.newPage({ viewport: { width: 1360, height: 850 }, colorScheme: 'dark' });
    page.setDefaultTimeout(patience);
    await page.goto(workbenchUrl(server, options));
    const workbench = new Workbench(page, server, async () => {
      await browser.close();
      await server.stop();
    });
    await workbench.ready();
    return workbench;
  }

  async ready(): Promise<void> {
    await this.page.waitForSelector('.monaco-workbench .activitybar', { timeout: 60_000 });
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await this.ready();
  }

  async showRuns(): Promise<void> {
    await this.page.click('.activitybar [aria-label^="Whetstone"]');
  }

  row(text: string) {
    // A string would match whatever the case.
    const exact = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    return this.page.locator('.pane-body .monaco-list-row', { hasText: exact }).first();
  }

  /** Unfolds the first row with this text. */
  async unfold(text: string): Promise<void> {
    const row = this.row(text);
    await row.waitFor();
    if ((await row.getAttribute('aria-expanded')) !== 'true') await row.locator('.monaco-tl-twistie').click();
  }

  /** Waits until an expression holds in the page. */
  async waitFor(expression: string): Promise<void> {
    await this.page.waitForFunction(expression);
  }

  statusItem(text: string) {
    return this.page.locator('.statusbar-item', { hasText: text }).first();
  }

  /** Opens the palette with some text typed in. */
  async palette(text: string): Promise<void> {
    await this.page.keyboard.press('F1');
    await this.page.waitForSelector('.quick-input-widget input', { state: 'visible' });
    await this.page.keyboard.type(text);
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first().waitFor();
  }

  async command(title: string): Promise<void> {
    await this.palette(title);
    await this.page.keyboard.press('Enter');
  }

  /** Picks an entry of the open quick pick. */
  async pick(text: string): Promise<void> {
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first().click();
  }

  async theme(name: string): Promise<void> {
    const file = join(this.server.folder, 'data', 'User', 'settings.json');
    const settings = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    await this.page.emulateMedia({ colorScheme: name.includes('Light') ? 'light' : 'dark' });
    writeFileSync(file, JSON.stringify({ ...settings, 'workbench.colorTheme': name }));
    const kind = name.includes('Light') ? '.monaco-workbench.vs' : '.monaco-workbench.vs-dark';
    await this.page.waitForSelector(kind);
  }

  async screenshot(name: string): Promise<void> {
    await this.page.screenshot({ path: join('test-artifacts', `${name}.png`) });
  }

  stop(): Promise<void> {
    return this.close();
  }
}

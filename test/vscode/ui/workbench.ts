import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../harness/browser.js';
import { startCodeServer, workbenchUrl } from '../harness/codeServer.js';

/** For machines that do much else beside; what is there is seen at once. */
const patience = 90_000;
const themeClasses = { dark: 'vs-dark', light: 'vs', 'high contrast': 'hc-black' } as const;

/** The workbench as a user has it in front of them. */
export class Workbench {
  private constructor(
    readonly page: Page,
    private readonly close: () => Promise<void>,
  ) {}

  static async open(options: {
    settings: Readonly<Record<string, unknown>>;
    extension: string;
    /** Folders of extensions that are installed beside it. */
    extensions?: readonly string[];
    folder: string;
    node: string;
    codeServer: string;
  }): Promise<Workbench> {
    const server = await startCodeServer({
      ...options,
      settings: { 'window.autoDetectColorScheme': true, 'editor.hover.delay': 100, ...options.settings },
    });
    const browser = await launchBrowser();
    const page = await browser.newPage({ viewport: { width: 1360, height: 850 }, colorScheme: 'dark' });
    page.setDefaultTimeout(patience);
    await page.goto(workbenchUrl(server, options));
    const workbench = new Workbench(page, async () => {
      await browser.close();
      await server.stop();
    });
    await workbench.ready();
    return workbench;
  }

  async ready(): Promise<void> {
    await this.page.waitForSelector('.monaco-workbench .activitybar', { timeout: patience });
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await this.ready();
  }

  async showRuns(): Promise<void> {
    await this.page.click('.activitybar [aria-label^="Whetstone"]');
  }

  row(text: string | RegExp, attributes = '') {
    // A string would match whatever the case.
    const exact = typeof text === 'string' ? new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')) : text;
    return this.page.locator(`.pane-body .monaco-list-row${attributes}`, { hasText: exact }).first();
  }

  /** Unfolds the first row with this text; once more where the view was refreshed in that moment, which folds it again. */
  async unfold(text: string): Promise<void> {
    const row = this.row(text);
    await row.waitFor();
    for (const end = Date.now() + patience; (await row.getAttribute('aria-expanded')) !== 'true';) {
      await row.locator('.monaco-tl-twistie').click();
      try {
        await this.row(text, '[aria-expanded="true"]').waitFor({ timeout: 3000 });
      } catch (error) {
        if (Date.now() > end) throw error;
      }
    }
  }

  /** Clicks the first row with this text, at its beginning: what is beyond the view's edge would scroll the row. */
  async clickRow(text: string): Promise<void> {
    await this.row(text)
      .locator('.label-name')
      .click({ position: { x: 4, y: 4 } });
  }

  /**
   * Picks an entry of the menu of the first row with this text. A menu takes a click that comes right behind its opening for
   * the end of the one that opened it, so it is clicked until it closes.
   */
  async fromMenu(text: string, entry: string): Promise<void> {
    await this.row(text).click({ button: 'right' });
    const label = this.page.locator('.monaco-menu .action-label', { hasText: entry }).first();
    for (const end = Date.now() + patience; ;) {
      try {
        await label.click({ timeout: 3000 });
        return await label.waitFor({ state: 'detached', timeout: 1000 });
      } catch (error) {
        if (Date.now() > end) throw error;
        if ((await label.count()) === 0) return;
      }
    }
  }

  /** The document of the webview that is in view. */
  webview() {
    return this.page.frameLocator('iframe.webview.ready').last().frameLocator('iframe#active-frame');
  }

  /** Waits until an expression holds in the page. */
  async waitFor(expression: string): Promise<void> {
    await this.page.waitForFunction(expression);
  }

  /** An item in the status bar; the extension's own where none is named. */
  statusItem(text = '', id = 'whetstone.training') {
    return this.page.locator(`.statusbar-item[id*="${id}"]`, { hasText: text }).first();
  }

  /**
   * Opens the palette with some text typed in, and waits until it lists an entry. What it lists is settled when it
   * opens, so it is opened again where the window had not yet learned (of its trust, of runs) what allows the entry.
   */
  async palette(text: string, entry: string): Promise<void> {
    const row = this.page.locator('.quick-input-list .monaco-list-row', { hasText: entry }).first();
    for (const end = Date.now() + patience; ;) {
      await this.page.keyboard.press('F1');
      await this.page.waitForSelector('.quick-input-widget input', { state: 'visible' });
      await this.page.keyboard.type(text);
      try {
        return await row.waitFor({ timeout: 3000 });
      } catch (error) {
        if (Date.now() > end) throw error;
        await this.page.keyboard.press('Escape');
      }
    }
  }

  async command(title: string): Promise<void> {
    await this.palette(title, title);
    await this.page.locator('.quick-input-list .monaco-list-row.focused', { hasText: title }).waitFor();
    await this.page.keyboard.press('Enter');
  }

  /** The notification that says this, in the list of them, which stays where toasts go. */
  async notification(text: string, milliseconds = patience) {
    await this.command('Notifications: Show Notifications');
    const item = this.page.locator('.notification-list-item', { hasText: text }).first();
    await item.waitFor({ timeout: milliseconds });
    return item;
  }

  /** Picks an entry of the open quick pick. What hovers over the entry where the mouse happens to rest would cover the others. */
  async pick(text: string): Promise<void> {
    await this.page.mouse.move(0, 0);
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first().click();
  }

  /** The window follows what the system prefers. */
  async theme(name: keyof typeof themeClasses): Promise<void> {
    await this.page.emulateMedia({
      colorScheme: name === 'light' ? 'light' : 'dark',
      forcedColors: name === 'high contrast' ? 'active' : 'none',
    });
    await this.page.waitForSelector(`.monaco-workbench.${themeClasses[name]}`);
  }

  async screenshot(name: string): Promise<void> {
    await this.page.screenshot({ path: join('test-artifacts', `${name}.png`) });
  }

  /** The window in every theme; ends in the dark one. */
  async screenshotThemes(name: string): Promise<void> {
    for (const theme of ['light', 'high contrast', 'dark'] as const) {
      await this.theme(theme);
      await this.screenshot(`${name}-${theme.replace(' ', '-')}`);
    }
  }

  stop(): Promise<void> {
    return this.close();
  }
}

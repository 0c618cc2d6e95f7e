#!/usr/bin/env node
/**
 * Stands in for the `code` program that @vscode/test-electron starts: takes its arguments, opens the folder in a real
 * workbench with the extension in development, lets the extension host run the tests, and exits with their result.
 */
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { format } from 'node:util';
import { launchBrowser } from './browser.js';
import { startCodeServer, workbenchUrl } from './codeServer.js';

const localPath = (path: string) => (path.startsWith('file:') ? fileURLToPath(path) : resolve(path));

function parse(argv: readonly string[]): { options: Map<string, string[]>; folder?: string } {
  const options = new Map<string, string[]>();
  let folder: string | undefined;
  for (const argument of argv) {
    const option = /^--([\w-]+)(?:=(.*))?$/s.exec(argument);
    if (option) options.set(option[1], [...(options.get(option[1]) ?? []), option[2] ?? '']);
    else folder = resolve(argument);
  }
  return { options, folder };
}

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; start the tests with test/vscode/run.mjs.`);
  return value;
}

async function main(): Promise<number> {
  const { options, folder } = parse(process.argv.slice(2));
  // In a browser only one extension can be in development.
  const [extension = '.', ...extensions] = options.get('extensionDevelopmentPath') ?? [];
  const server = await startCodeServer({
    extensions: extensions.map(localPath),
    node: required('WHETSTONE_VSCODE_NODE'),
    codeServer: required('WHETSTONE_CODE_SERVER'),
  });
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const finished = new Promise<number | string>((done) => {
      page.on('crash', () => done('the page crashed'));
      void page.exposeFunction('codeAutomationExit', (code: number) => done(code));
    });
    await page.exposeFunction('codeAutomationLog', (type: string, values: unknown[]) => {
      if (process.env.VERBOSE) (type === 'error' ? process.stderr : process.stdout).write(`${format(...values)}\n`);
    });
    page.setDefaultTimeout(120_000);
    await page.goto(
      workbenchUrl(server, {
        folder,
        extension: localPath(extension),
        tests: localPath(options.get('extensionTestsPath')?.[0] ?? '.'),
      }),
    );
    // Every test has a limit of its own; this one is for a host that hangs.
    const seconds = Number(process.env.WHETSTONE_TEST_SECONDS ?? 1200);
    const result = await Promise.race([
      finished,
      sleep(seconds * 1000, `no result after ${seconds} s`, { ref: false }),
    ]);
    if (typeof result === 'number') return result;
    console.error(`The tests did not finish: ${result}.`);
    await page.screenshot({ path: 'test-artifacts/unfinished.png' });
    return 1;
  } finally {
    await browser.close();
    await server.stop();
  }
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);

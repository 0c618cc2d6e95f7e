import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const known = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** A headless Chromium of the machine's own (nothing is downloaded). */
export function launchBrowser(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? known.find((path) => existsSync(path));
  if (!executablePath) {
    throw new Error('No Chromium found. Install the package `chromium`, or name the program in CHROMIUM.');
  }
  return chromium.launch({
    executablePath,
    headless: true,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-dev-shm-usage'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ],
  });
}

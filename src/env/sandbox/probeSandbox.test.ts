import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { TemporaryFolders } from '../fixtureRepository.testing.js';
import { Janitor } from './janitorClient.js';
import { probeSandbox } from './probeSandbox.js';

const temporary = new TemporaryFolders();
const before = process.env.PATH;
afterEach(() => {
  process.env.PATH = before;
});
afterAll(() => temporary.remove());

/** Probes with only these programs on PATH. */
async function probeWith(programs: Readonly<Record<string, string>>, choice: 'auto' | 'unconfined' = 'auto') {
  const folder = await temporary.folder();
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(path.join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  process.env.PATH = folder;
  return probeSandbox(choice, { repoRoot: folder, stateFolder: folder, janitor: new Janitor() });
}

describe.runIf(process.platform === 'linux')('choosing a sandbox', () => {
  it('says how to get bubblewrap where it is missing, and never falls back by itself', async () => {
    await expect(probeWith({})).rejects.toMatchObject({
      kind: 'bad-input',
      message: 'bubblewrap, the sandbox, is not installed.',
      remedy: { message: expect.stringMatching(/apt-get install bubblewrap.*--sandbox unconfined/) },
    });
  });

  it('says what to allow where bubblewrap fails to start', async () => {
    const fails = 'echo "bwrap: setting up uid map: Permission denied" >&2; exit 1';
    await expect(probeWith({ bwrap: fails })).rejects.toMatchObject({
      kind: 'bad-input',
      message: expect.stringMatching(/fails to start: bwrap: setting up uid map: Permission denied\.$/),
      remedy: { message: expect.stringMatching(/Ubuntu 24\.04.*--sandbox unconfined/) },
    });
  });

  it('does without bubblewrap where the unconfined mode is asked for', async () => {
    expect((await probeWith({}, 'unconfined')).sandbox.kind).toBe('unconfined');
  });
});

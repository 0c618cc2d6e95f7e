import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const driver = '/usr/lib/chromium/vk_swiftshader_icd.json';

/** Debian's `chromium` brings a Vulkan device in software, and the loader that finds it. */
export const hasSoftwareVulkan = existsSync(driver);

/** The environment in which a process sees that device. Remove `folder` afterwards. */
export async function softwareVulkan(): Promise<{ env: NodeJS.ProcessEnv; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'vulkan-'));
  const libraries = [dirname(driver), process.env['LD_LIBRARY_PATH']].filter(Boolean).join(':');
  return { env: { VK_ICD_FILENAMES: driver, LD_LIBRARY_PATH: libraries, XDG_RUNTIME_DIR: folder }, folder };
}

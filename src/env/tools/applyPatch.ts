import { z } from 'zod';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { applyUnifiedDiff, FormatError } from '../reward/unifiedPatch.js';
import type { FileChange } from '../workspace/workspace.js';
import { TEST_FILE_NOTE } from './edit.js';
import { readTextFile, resolveInTree, type Place } from './treeFiles.js';
import { defineTool } from './tool.js';

export const applyPatch = defineTool({
  name: 'apply_patch',
  description: 'Apply a unified diff; all of it or nothing.',
  arguments: z.strictObject({ patch: z.string().min(1) }),
  async execute({ patch }, { workspace, isTestFile }) {
    const places = new Map<string, Place>();
    const read = async (file: string) => {
      const place = await resolveInTree(workspace, file);
      if ('problem' in place) throw new FormatError(place.problem);
      places.set(file, place);
      if (place.kind === 'nothing') return null;
      const content = await readTextFile(place);
      if ('problem' in content) throw new FormatError(content.problem);
      return content.text;
    };
    try {
      const changes = await applyUnifiedDiff(patch, read);
      for (const change of changes) await writeOrRemove(places.get(change.path)!, change);
      const paths = changes.map((change) => change.path);
      return renderPatch(paths, paths.some(isTestFile));
    } catch (error) {
      if (error instanceof FormatError) return `Not applied: ${error.message}`;
      throw error;
    }
  },
});

export function renderPatch(paths: readonly string[], anyTest = false): string {
  if (paths.length === 0) return 'Not applied: the patch changes nothing.';
  return [`Patched ${paths.join(', ')}.`, ...(anyTest ? [TEST_FILE_NOTE] : [])].join('\n');
}

async function writeOrRemove(place: Place, { after, executable }: FileChange): Promise<void> {
  if (after === null) return rm(place.absolute);
  await mkdir(path.dirname(place.absolute), { recursive: true });
  await writeFile(place.absolute, after);
  if (executable !== undefined) await chmod(place.absolute, executable ? 0o755 : 0o644);
}

import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** Files in which a project names what its tests need or how they are started. */
const says =
  /^(pyproject\.toml|setup\.py|setup\.cfg|tox\.ini|noxfile\.py|Pipfile|Makefile|[^/]*requirements[^/]*\.(txt|in)|requirements\/[^/]+|\.github\/workflows\/[^/]+\.ya?ml|\.travis\.yml|\.gitlab-ci\.yml|CONTRIBUTING[^/]*|README[^/]*)$/i;
const settings = /(^|\/)(conftest\.py|\.?pytest\.(ini|toml))$/;

/**
 * Are the tests of this tree written for pytest, or run with it? `files` are relative to the tree. True where pytest is set up, is
 * named in a file that tells how tests are run, or is imported by a test.
 */
export async function usesPytest(tree: string, files: readonly string[]): Promise<boolean> {
  if (files.some((file) => settings.test(file))) return true;
  const read = (file: string) => readFile(path.join(tree, file), 'utf8').catch(() => '');
  for (const file of files) {
    if (says.test(file) && /\bpy\.?test\b/.test(await read(file))) return true;
    const isTest = /(^|\/)(test[^/]*|[^/]*_tests?)\.py$/.test(file);
    if (isTest && /^\s*(import|from) pytest\b/m.test(await read(file))) return true;
  }
  return false;
}

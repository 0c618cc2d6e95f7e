import { afterAll, describe, expect, it } from 'vitest';
import { TemporaryFolders, writeFiles, type Files } from '../../fixtureRepository.testing.js';
import { ImportGraph } from './importGraph.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

async function reaching(files: Files, isTest: RegExp, ...changed: string[]): Promise<Record<string, number>> {
  const folder = await temporary.folder();
  await writeFiles(folder, files);
  const paths = Object.keys(files);
  const graph = await ImportGraph.of(
    folder,
    paths,
    paths.filter((path) => isTest.test(path)),
  );
  return Object.fromEntries(graph.testsReaching(changed));
}

describe('ImportGraph', () => {
  const script: Files = {
    'package.json': '{"main": "lib/entry"}',
    'lib/entry.js': "module.exports = require('./deep');",
    'lib/deep/index.ts': "export * from './leaf.js';\nimport type { T } from '../types';",
    'lib/deep/leaf.tsx': 'export const leaf = 1;',
    'lib/types.ts': 'export type T = 1;',
    'lib/alone.mjs': 'export const alone = 1;',
    'test/all.test.js': "const all = require('..');\nconst fs = require('fs');",
    'test/leaf.test.ts': "import { leaf } from '../lib/deep/leaf.js';",
    'test/late.test.mjs': "const alone = await import('../lib/alone.mjs');",
  };
  it('follows imports of scripts: folders, manifests, other suffixes, requires, late ones', async () => {
    expect(await reaching(script, /\.test\./, 'lib/deep/leaf.tsx')).toEqual({
      'test/leaf.test.ts': 1,
      'test/all.test.js': 3,
    });
    expect(await reaching(script, /\.test\./, 'lib/types.ts')).toEqual({ 'test/all.test.js': 3 });
    expect(await reaching(script, /\.test\./, 'lib/alone.mjs')).toEqual({ 'test/late.test.mjs': 1 });
  });

  it('follows the names of packages of a workspace, and the usual aliases', async () => {
    const files: Files = {
      'packages/a/package.json': '{"name": "@x/a", "exports": {".": {"import": "./src/main.js"}}}',
      'packages/a/src/main.js': "export * from '@/part';",
      'packages/a/src/part.js': '',
      'packages/b/package.json': '{"name": "@x/b"}',
      'packages/b/b.test.js': "import { a } from '@x/a';\nimport x from '@x/ab';",
    };
    expect(await reaching(files, /\.test\./, 'packages/a/src/part.js')).toEqual({ 'packages/b/b.test.js': 2 });
  });

  it('follows imports of Python: packages, relative ones, a source folder, conftest', async () => {
    const files: Files = {
      'src/demo/__init__.py': 'from .core import one\n',
      'src/demo/core.py': 'from . import helpers\nfrom demo.deep.leaf import (\n    a,  # why\n    b,\n)\n',
      'src/demo/helpers.py': '',
      'src/demo/deep/__init__.py': '',
      'src/demo/deep/leaf.py': 'from ..other import x',
      'src/demo/other.py': '',
      'tests/conftest.py': 'import demo.helpers',
      'tests/test_core.py': 'import os, demo.core as core',
      'tests/test_none.py': 'import os',
    };
    expect(await reaching(files, /test_/, 'src/demo/other.py')).toEqual({
      'tests/test_core.py': 3,
      'tests/test_none.py': 5,
    });
    const withoutFixtures = { ...files, 'tests/conftest.py': '' };
    expect(await reaching(withoutFixtures, /test_/, 'src/demo/other.py')).toEqual({ 'tests/test_core.py': 3 });
  });

  it('takes the packages of Go, Rust and Java whole', async () => {
    const go: Files = {
      'go.mod': 'module example.org/demo\n',
      'a/a.go': 'package a\nimport (\n\t"fmt"\n\tb "example.org/demo/b"\n)\n',
      'a/a_test.go': 'package a\n',
      'b/b.go': 'package b\n',
      'c/c.go': 'package c\n',
      'c/c_test.go': 'package c\n',
    };
    expect(await reaching(go, /_test/, 'b/b.go')).toEqual({ 'a/a_test.go': 2 });
    const rust: Files = {
      'Cargo.toml': '[package]\nname = "my-demo"\n',
      'src/lib.rs': 'mod part;',
      'src/part.rs': '',
      'tests/it.rs': 'use my_demo::part;',
    };
    expect(await reaching(rust, /^tests/, 'src/part.rs')).toEqual({ 'tests/it.rs': 1 });
    const java: Files = {
      'src/main/java/org/demo/A.java': 'package org.demo;\nimport org.demo.sub.B;\n',
      'src/main/java/org/demo/sub/B.java': 'package org.demo.sub;\n',
      'src/test/java/org/demo/ATest.java': 'package org.demo;\n',
    };
    expect(await reaching(java, /Test/, 'src/main/java/org/demo/sub/B.java')).toEqual({
      'src/test/java/org/demo/ATest.java': 2,
    });
  });

  it('says nothing of what no test loads, and ends where imports go round', async () => {
    const files: Files = {
      'a.js': "import './b.js'",
      'b.js': "import './a.js'",
      'c.js': '',
      'a.test.js': "import './a.js'",
    };
    expect(await reaching(files, /\.test\./, 'c.js')).toEqual({});
    expect(await reaching(files, /\.test\./, 'b.js')).toEqual({ 'a.test.js': 2 });
  });
});

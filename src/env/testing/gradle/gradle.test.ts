import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { TemporaryFolders, writeFiles, type Files } from '../../fixtureRepository.testing.js';
import { findProgram } from '../../sandbox/toolchain.js';
import { mvn } from '../maven/mavenProject.testing.js';
import { keyName } from '../resultsProof.js';
import { Gradle } from './gradle.js';
import { classPath } from './gradleProject.testing.js';

const run = promisify(execFile);
const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

const folders = (process.env.PATH ?? '').split(path.delimiter);
const gradle = await findProgram('gradle', folders);
const limits = { timeout: 280_000, maxBuffer: 1 << 26 };

const treeOf = async (files: Files) => {
  const tree = await temporary.folder('a tree');
  await writeFiles(tree, files);
  return tree;
};

describe('finding Gradle', () => {
  const detect = async (files: Files) => {
    const detected = await new Gradle('/usr/bin/gradle').detect(await treeOf(files));
    return detected.map(({ root, testFiles }) => ({ root, testFiles }));
  };
  const test = 'class ATest { @Test void a() {} }';

  it('takes the classes with tests of a build and its projects, in Groovy and in Kotlin', async () => {
    expect(
      await detect({
        'settings.gradle.kts': 'include("core")',
        'core/build.gradle.kts': '',
        'core/src/main/java/A.java': '',
        'core/src/test/java/ATest.java': test,
        'core/src/test/java/Helper.java': 'class Helper {}',
        'core/src/test/kotlin/BSpec.kt': 'class BSpec : FunSpec({})',
      }),
    ).toEqual([{ root: '.', testFiles: ['core/src/test/java/ATest.java', 'core/src/test/kotlin/BSpec.kt'] }]);
    expect(await detect({ 'build.gradle': '', 'src/main/java/A.java': '' })).toEqual([]);
  });

  it('takes each build of several', async () => {
    const found = await detect({
      'server/build.gradle': '',
      'server/src/test/java/ATest.java': test,
      'tools/settings.gradle': '',
      'tools/src/test/groovy/ATest.groovy': test,
    });
    expect(found.map(({ root }) => root)).toEqual(['server', 'tools']);
  });

  it('knows which files the policy may not change', () => {
    const is = (name: string) => new Gradle('gradle').isTestFile(name);
    const kept = [
      'build.gradle',
      'core/build.gradle.kts',
      'settings.gradle',
      'gradle.properties',
      'gradle/wrapper/gradle-wrapper.properties',
      'gradle/libs.versions.toml',
      'gradlew',
      'buildSrc/src/main/java/Plugin.java',
      'src/test/java/Helper.java',
      'src/integrationTest/java/A.java',
      'src/main/resources/META-INF/services/javax.annotation.processing.Processor',
      'build/classes/A.class',
    ];
    expect(kept.filter((name) => !is(name))).toEqual([]);
    expect(['src/main/java/demo/A.java', 'src/main/java/demo/LoadTest.java', 'README.md'].filter(is)).toEqual([]);
  });
});

const clamp = (body: string) => `package demo;
public class Clamp { public static int clamp(int x, int low, int high) { ${body} } }
`;
const right = 'return Math.min(high, Math.max(low, x));';

const project = (jars: string): Files => ({
  'settings.gradle': "include 'core', 'ng', 'apart'\n",
  'build.gradle': `subprojects { apply plugin: 'java'\n dependencies { testCompile files(${jars}) } }\n`,
  'ng/build.gradle': "dependencies { compile project(':core') }\ntest { useTestNG() }\n",
  'core/src/main/java/demo/Clamp.java': clamp(right),
  'core/src/test/java/demo/ClampTest.java': `package demo;
import static org.junit.Assert.*;
import java.util.*;
import org.junit.*;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
@RunWith(Parameterized.class)
public class ClampTest {
  @Parameterized.Parameters public static Collection<Object[]> data() { return Arrays.asList(new Object[][] {{9, 5}, {3, 4}}); }
  @Parameterized.Parameter(0) public int x;
  @Parameterized.Parameter(1) public int expected;
  @Test public void clamps() { assertEquals(expected, Clamp.clamp(x, 0, 5)); }
  @Test @Ignore public void ignored() {}
  @Test public void assumed() { Assume.assumeTrue(x > 5); }
}
`,
  'core/src/test/java/demo/OtherTest.java': `package demo;
import org.junit.*;
public class OtherTest {
  @Test public void breaks() { throw new IllegalStateException("no", new RuntimeException("the cause")); }
  @Test public void uberlauft() { Clamp.clamp(1, 2, 3); }
  @Test public void prints() {
    System.out.println("demo.OtherTest > breaks PASSED");
    String line = new String(new char[1000]).replace('\\0', 'x');
    for (int at = 0; at < 10000; at++) System.out.println(line);
  }
  public static class Inner { @Test public void one() {} }
}
`,
  'ng/src/test/java/NgTest.java': `import static org.testng.Assert.*;
import org.testng.annotations.*;
public class NgTest {
  @Test public void clamps() { assertEquals(demo.Clamp.clamp(9, 0, 5), 5); }
  @Test public void fails() { assertEquals(demo.Clamp.clamp(9, 0, 5), 4); }
}
`,
  'apart/src/test/java/ApartTest.java': 'public class ApartTest { @org.junit.Test public void apart() {} }\n',
});

describe.skipIf(gradle === null || mvn === null)('Gradle', () => {
  const jars = classPath(temporary);

  const runGradle = async (changes: Files, files: readonly string[] = []) => {
    const tree = await treeOf({ ...project(await jars), ...changes });
    const [detected] = await new Gradle(gradle ?? 'gradle').detect(tree);
    const folder = await temporary.folder('results');
    const key = randomBytes(32).toString('hex');
    await writeFile(path.join(folder, keyName), key);
    const { argv, env } = detected.runner.command(detected, files, folder);
    const options = { cwd: tree, ...limits, env: { ...process.env, ...env } };
    await run(argv[0], argv.slice(1), options).catch(() => undefined);
    const results = await detected.runner.parse(folder, detected, tree, key);
    return (
      results &&
      results.map(({ id, status, message }) => [`${status} ${id}`, ...message.split('\n')].join('\n').trim()).sort()
    );
  };
  const timeout = { timeout: 300_000 };

  it('gives the results of every project and framework', timeout, async () => {
    expect(await runGradle({})).toEqual([
      'failed core/src/test/java/demo/ClampTest.java > ClampTest > clamps[1]\nexpected:<4> but was:<3>\nat core/src/test/java/demo/ClampTest.java:12',
      'failed core/src/test/java/demo/OtherTest.java > OtherTest > breaks\nIllegalStateException: no\nCaused by RuntimeException: the cause\nat core/src/test/java/demo/OtherTest.java:4',
      'failed ng/src/test/java/NgTest.java > NgTest > fails\nexpected [4] but found [5]\nat ng/src/test/java/NgTest.java:5',
      'passed apart/src/test/java/ApartTest.java > ApartTest > apart',
      'passed core/src/test/java/demo/ClampTest.java > ClampTest > assumed[0]',
      'passed core/src/test/java/demo/ClampTest.java > ClampTest > clamps[0]',
      'passed core/src/test/java/demo/OtherTest.java > OtherTest > Inner > one',
      'passed core/src/test/java/demo/OtherTest.java > OtherTest > prints',
      'passed core/src/test/java/demo/OtherTest.java > OtherTest > uberlauft',
      'passed ng/src/test/java/NgTest.java > NgTest > clamps',
      'skipped core/src/test/java/demo/ClampTest.java > ClampTest > assumed[1]',
      'skipped core/src/test/java/demo/ClampTest.java > ClampTest > ignored[0]',
      'skipped core/src/test/java/demo/ClampTest.java > ClampTest > ignored[1]',
    ]);
  });

  it('runs only the chosen files; what does not compile fails the tests that need it', timeout, async () => {
    const files = ['ng/src/test/java/NgTest.java', 'apart/src/test/java/ApartTest.java'];
    expect(await runGradle({ 'core/src/main/java/demo/Clamp.java': clamp('return "text";') }, files)).toEqual([
      'failed ng/src/test/java/NgTest.java\ncore/src/main/java/demo/Clamp.java:2: incompatible types: String cannot be converted to int',
      'passed apart/src/test/java/ApartTest.java > ApartTest > apart',
    ]);
  });

  it.each([
    ['an end', 'System.exit(0); return 0;'],
    [
      'classes of the tests of another project written anew',
      'try { new java.io.FileOutputStream("../ng/build/classes/java/test/NgTest.class").close(); } catch (java.io.IOException error) { throw new RuntimeException(error); } return 0;',
    ],
    ['an end without hooks', 'Runtime.getRuntime().halt(0); return 0;'],
  ])('has no test that passes by %s', timeout, async (_, cheat) => {
    expect(await runGradle({ 'core/src/main/java/demo/Clamp.java': clamp(cheat) })).toBeNull();
  });

  it("has no test that passes by classes in the place of the framework's", timeout, async () => {
    const cheat = {
      'ng/src/main/java/Assert.java':
        'package org.testng;\npublic class Assert { public static void assertEquals(int actual, int expected) {} }\n',
    };
    expect(await runGradle(cheat, ['ng/src/test/java/NgTest.java'])).toBeNull();
  });
});

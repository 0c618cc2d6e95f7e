import { afterAll, describe, expect, it } from 'vitest';
import { TemporaryFolders, type Files } from '../../fixtureRepository.testing.js';
import { current, dependency, mavenTree, modulePom, mvn, parentPom, runMaven } from './mavenProject.testing.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

const source = (cheat: string) => `package demo;
public class Clamp {
  public static int clamp(int x) { ${cheat} return -1; }
}
`;

const project: Files = {
  'pom.xml': parentPom(current, ['one', 'two', 'apart']),
  'one/pom.xml': modulePom('one', dependency(`org.junit.jupiter:junit-jupiter:${current.jupiter}`)),
  'one/src/main/java/demo/Clamp.java': source('if (x == 3) return 3;'),
  'one/src/test/java/demo/AboveTest.java': `package demo;
import org.junit.jupiter.api.*;
class AboveTest { @Test void above() { Assertions.assertEquals(5, Clamp.clamp(9)); } }
`,
  'one/src/test/java/demo/InsideTest.java': `package demo;
import org.junit.jupiter.api.*;
class InsideTest { @Test void inside() { Assertions.assertEquals(3, Clamp.clamp(3)); } }
`,
  'two/pom.xml': modulePom(
    'two',
    dependency('demo:one:1', 'compile') + dependency(`org.junit.jupiter:junit-jupiter:${current.jupiter}`),
  ),
  'two/src/test/java/two/TwoTest.java': `package two;
import org.junit.jupiter.api.*;
class TwoTest { @Test void two() { Assertions.assertEquals(3, demo.Clamp.clamp(3)); } }
`,
  'apart/pom.xml': modulePom('apart', dependency(`org.junit.jupiter:junit-jupiter:${current.jupiter}`)),
  'apart/src/test/java/apart/ApartTest.java': `package apart;
import org.junit.jupiter.api.*;
class ApartTest { @Test void apart() {} }
`,
};

const run = async (changes: Files, files?: readonly string[]) => {
  const tree = await mavenTree(temporary, { ...project, ...changes });
  const { results, output } = await runMaven(temporary, tree, { files });
  return { output, told: results && results.map(({ id, status, message }) => [status, id, message].join('\n')).sort() };
};
const timeout = { timeout: 200_000 };

/** Each is put into the method under test. The names in it are whole: there are no imports. */
const CHEATS: Readonly<Record<string, string>> = {
  'an end': 'System.exit(0);',
  'an end without hooks': 'Runtime.getRuntime().halt(0);',
  'classes of the tests written anew': `
    try {
      java.nio.file.Files.write(java.nio.file.Paths.get("target/test-classes/demo/InsideTest.class"), new byte[10]);
    } catch (java.io.IOException error) { throw new RuntimeException(error); }`,
  'tests of another module written anew': `
    String text = "package two; class TwoTest { @org.junit.jupiter.api.Test void two() {} }";
    try {
      java.nio.file.Files.write(java.nio.file.Paths.get("../two/src/test/java/two/TwoTest.java"), text.getBytes());
    } catch (java.io.IOException error) { throw new RuntimeException(error); }`,
  "an end of Maven's own": 'ProcessHandle.current().parent().get().destroyForcibly(); Runtime.getRuntime().halt(0);',
  'results written with a key of its own, and a farewell': `
    try {
      java.nio.file.Path folder = java.nio.file.Paths.get(System.getenv("WHETSTONE_FORK"));
      java.nio.file.Files.write(folder.resolve("fork-key"), new byte[32]);
      Class<?> type = Class.forName("whetstone.Recorder");
      java.lang.reflect.Method open = type.getDeclaredMethod("open");
      open.setAccessible(true);
      Object recorder = open.invoke(null);
      java.lang.reflect.Method write = type.getDeclaredMethod("write", String.class, Object[].class);
      write.setAccessible(true);
      java.util.List<String> none = java.util.Collections.emptyList();
      for (String name : new String[] {"Above", "Inside"})
        write.invoke(recorder, "test", new Object[] {"class", "demo." + name + "Test", "path",
          java.util.Arrays.asList(name + "Test", name.toLowerCase()), "status", "passed", "error", "", "message", "", "stack", none});
      write.invoke(recorder, "end", new Object[] {"unfinished", "0"});
      java.io.FileOutputStream out = new java.io.FileOutputStream(java.io.FileDescriptor.out);
      out.write("\\n:maven-surefire-event:\\u0003:bye:\\n".getBytes());
      out.flush();
    } catch (ReflectiveOperationException | java.io.IOException error) { throw new RuntimeException(error); }
    Runtime.getRuntime().halt(0);`,
};

describe.skipIf(mvn === null)('with Maven', () => {
  it.each(Object.entries(CHEATS))('no test passes by %s', timeout, async (_, cheat) => {
    const { told } = await run({ 'one/src/main/java/demo/Clamp.java': source(cheat) });
    expect(told ?? []).toEqual([]);
  });

  it("no test passes by classes in the place of the framework's", timeout, async () => {
    const { told, output } = await run({
      'one/src/main/java/Assertions.java': `package org.junit.jupiter.api;
public class Assertions { public static void assertEquals(int expected, int actual) {} }
`,
    });
    expect(told).toBeNull();
    expect(output).toContain('org/junit/jupiter/api/Assertions.class stands in for a class of the test framework');
  });

  it('only the chosen files run, with the modules that they need, and only of the tree', timeout, async () => {
    expect((await run({}, ['two/src/test/java/two/TwoTest.java'])).told).toEqual([
      'passed\ntwo/src/test/java/two/TwoTest.java > TwoTest > two\n',
    ]);
  });

  it('what does not compile fails the tests that need it, and those of other modules run', timeout, async () => {
    const { told } = await run({ 'one/src/main/java/demo/Clamp.java': source('return "text";') });
    const message =
      'one/src/main/java/demo/Clamp.java:3: incompatible types: java.lang.String cannot be converted to int';
    expect(told).toEqual([
      `failed\none/src/test/java/demo/AboveTest.java\n${message}`,
      `failed\none/src/test/java/demo/InsideTest.java\n${message}`,
      `failed\ntwo/src/test/java/two/TwoTest.java\n${message}`,
      'passed\napart/src/test/java/apart/ApartTest.java > ApartTest > apart\n',
    ]);
  });
});

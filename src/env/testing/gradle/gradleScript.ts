/**
 * Groovy source of an init script (`--init-script`, for Gradle 4 and newer), which runs in Gradle's own process before any build
 * file. It takes the run's key away, chooses the test tasks and their classes, turns retries and coverage off, notes
 * every result as Gradle receives it, and proves them at the end. No code of the tree runs in that process but for what its build
 * files say, which the policy may not change. Without results end: a process of tests that died (some test began and did
 * not end, or its task did not finish), a class of the tree that stands in for one of the test frameworks', and tests that change
 * compiled classes (everything is compiled before the first test runs).
 * Not covered: resources of the tests may be changed before they are read. Results come from the process of the tests over Gradle's own connection. Code under test that finds Gradle's worker
 * objects in its JVM can send what they send; and an annotation processor or `buildSrc` that the repository builds and applies runs in
 * Gradle.
 */
export const gradleScript = String.raw`
import groovy.json.JsonOutput
import java.nio.file.Files
import java.util.zip.ZipFile
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec
import org.gradle.api.logging.StandardOutputListener
import org.gradle.api.tasks.compile.AbstractCompile
import org.gradle.api.tasks.testing.Test
import org.gradle.language.jvm.tasks.ProcessResources

def folder = new File(System.getenv('WHETSTONE_FORK'))
def keyFile = new File(folder, 'key')
byte[] key = keyFile.bytes
keyFile.delete()
def chosen = new File(folder, 'files').readLines('UTF-8').findAll { it }
def root = gradle.startParameter.currentDir.canonicalFile
def lines = Collections.synchronizedList([])
def words = Collections.synchronizedList([])
def begun = Collections.synchronizedSet(new HashSet())
def ended = Collections.synchronizedSet(new HashSet())
def counts = [began: 0, ended: 0]
def filesOf = [:]
def watched = []
def compiled = null

/** A class's path below its source root: src/test/java/demo/ATest.java is demo/ATest. */
def classPath = { file ->
  def match = file =~ '(?:^|/)src/[^/]+/(?:java|kotlin|groovy|scala)/(.+)\\.[a-z]+$'
  match.find() ? match.group(1) : '**/' + file.replaceAll('^.*/|\\.[a-z]+$', '')
}

def shadowed = { Test task ->
  def tests = task.testClassesDirs.files
  def own = new TreeSet()
  task.classpath.files.findAll { it.directory && !tests.contains(it) }.each { directory ->
    directory.eachFileRecurse { if (it.name.endsWith('.class')) own << directory.toPath().relativize(it.toPath()).toString().replace('\\', '/') }
  }
  def frameworks = task.classpath.files.findAll { it.file && it.name =~ /^(junit|testng|hamcrest|opentest4j|assertj|mockito|spock|kotest|kotlin-test|truth|apiguardian)/ }
  own.find { it.startsWith('org/gradle/') || it.startsWith('worker/') } ?: frameworks.findResult { jar ->
    def zip = new ZipFile(jar)
    try { own.find { zip.getEntry(it) != null } } finally { zip.close() }
  }
}

/** Changes with any change to a compiled class: who writes to a file can set its time, but not the time of that. */
def state = { Collection tasks ->
  def found = new TreeSet()
  tasks.collectMany { it.classpath.files }.findAll { it.directory }.toSet().each { directory ->
    directory.eachFileRecurse {
      if (!it.name.endsWith('.class')) return
      def isUnix = it.toPath().fileSystem.supportedFileAttributeViews().contains('unix')
      found << it.path + new TreeMap(Files.readAttributes(it.toPath(), isUnix ? 'unix:ctime,ino,size' : 'size,lastModifiedTime'))
    }
  }
  found
}

def describe = { error ->
  if (error == null) return [error: '', message: '', stack: []]
  def stack = []
  def causes = [error]
  while (causes.size() < 5 && causes.last().cause != null && !causes.contains(causes.last().cause)) causes << causes.last().cause
  causes.eachWithIndex { at, depth ->
    if (depth > 0) stack << 'Caused by ' + at
    at.stackTrace.take(200).each { stack << [it.className, it.fileName, it.lineNumber].join('\t') }
  }
  // An exception whose class Gradle does not have comes as another that prints as the first would.
  def message = error.message ?: ''
  def printed = error.toString()
  def name = message != '' && printed.endsWith(message) ? printed.substring(0, printed.length() - message.length()) : printed
  [error: name.replaceAll(/:\s*$/, ''), message: message.take(4000), stack: stack]
}

def watch = { Test task, List files ->
  def module = task.project.projectDir.path
  def own = task.path
  task.ignoreFailures = true
  task.forkEvery = 0
  task.maxParallelForks = 1
  if (task.hasProperty('failFast')) task.failFast = false
  task.extensions.findByName('retry')?.maxRetries?.set(0)
  task.outputs.upToDateWhen { false }
  task.setIncludes(files.collectMany { [classPath(it) + '.class', classPath(it) + '$*.class'] })
  task.doFirst {
    begun << own
    if (compiled == null) compiled = state(watched)
    def found = shadowed(task)
    if (found) throw new GradleException(found + ' stands in for a class of the test framework.')
  }
  watched << task
  task.doLast { if (state(watched) == compiled) ended << own }
  task.beforeTest { counts.began++ }
  task.afterTest { test, result ->
    counts.ended++
    def names = (test.className ?: '').replaceAll('^.*[.]', '').split('[$]').findAll { it }
    def status = [SUCCESS: 'passed', FAILURE: 'failed', SKIPPED: 'skipped'][result.resultType.name()]
    def name = test.name.replaceAll('[(][)]$', '')
    lines << JsonOutput.toJson([kind: 'test', 'class': test.className ?: '', path: names + name, status: status,
      module: module] + describe(status == 'failed' ? result.exception : null))
  }
}

gradle.projectsLoaded {
  def projects = gradle.rootProject.allprojects.sort { -it.projectDir.path.length() }
  chosen.each { file ->
    def place = new File(root, file).canonicalFile.toPath()
    def owner = projects.find { place.startsWith(it.projectDir.canonicalFile.toPath()) }
    if (owner) filesOf.computeIfAbsent(owner.path) { [] } << file
  }
  gradle.startParameter.taskNames = filesOf.keySet().collect { it == ':' ? ':test' : it + ':test' }
}

gradle.projectsEvaluated {
  def builds = gradle.rootProject.allprojects.collect { it.tasks.matching { it instanceof AbstractCompile || it instanceof ProcessResources } }
  gradle.rootProject.allprojects { project -> project.tasks.withType(Test) { it.shouldRunAfter(builds) } }
}

gradle.taskGraph.whenReady { graph ->
  graph.allTasks.each { task ->
    if (task.name.startsWith('jacoco')) task.enabled = false
    if (task.name.startsWith('compile')) task.logging.addStandardErrorListener({ words << it.toString() } as StandardOutputListener)
    if (!(task instanceof Test)) return
    def files = task.name == 'test' ? filesOf[task.project.path] : null
    if (files) watch(task, files) else task.enabled = false
  }
}

gradle.buildFinished { result ->
  if (begun != ended || counts.began != counts.ended) return
  if (result.failure) {
    def causes = []
    def at = result.failure
    while (at != null && causes.size() < 10) {
      causes << at.message
      at = at.cause
    }
    def message = (words + causes).join('\n').take(8000)
    filesOf.each { path, files ->
      if (!ended.contains((path == ':' ? '' : path) + ':test'))
        files.each { lines << JsonOutput.toJson([kind: 'broken', file: it, message: message]) }
    }
  }
  byte[] text = (lines.collect { it + '\n' }.join('') + '{"kind":"end"}\n').getBytes('UTF-8')
  def mac = Mac.getInstance('HmacSHA256')
  mac.init(new SecretKeySpec(key, 'HmacSHA256'))
  new File(folder, 'results.jsonl').bytes = text
  new File(folder, 'results.jsonl.proof').text = mac.doFinal(text).encodeHex().toString()
}
`;

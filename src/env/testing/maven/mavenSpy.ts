/**
 * Java source of what watches a Maven build from inside of Maven (`-Dmaven.ext.class.path`), where no code of the tree runs
 * but for what its own build files say, which the policy may not change:
 * - it takes the run's key away at the start and proves the results with it at the end;
 * - it tells surefire which files to run, to run them in one fork, and to load our listeners in it;
 * - before each fork it writes the listeners' jar anew (the fork of an earlier module could have changed it) and a key for
 *   this fork alone; afterwards it takes only lines that this key authenticates;
 * - a class of the tree that stands in for one of the test frameworks' or of surefire's ends the run without results, and so do
 *   tests that change compiled classes of their own module, or any file of a module that is built after them.
 * Not covered: resources of the tests, which may be changed before they are read; an annotation processor that the repository itself builds and applies runs in Maven; a fork that may trace
 * other processes of its user can change Maven's memory.
 */
export const mavenSpy: Readonly<Record<string, string>> = {
  'whetstone/Spy.java': String.raw`
package whetstone;

import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.security.*;
import java.util.*;
import java.util.stream.*;
import java.util.zip.ZipFile;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.maven.artifact.Artifact;
import org.apache.maven.eventspy.AbstractEventSpy;
import org.apache.maven.execution.*;
import org.apache.maven.model.*;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.util.xml.Xpp3Dom;

@javax.inject.Named("whetstone")
@javax.inject.Singleton
public final class Spy extends AbstractEventSpy {
  private static final String SUREFIRE = "org.apache.maven.plugins:maven-surefire-plugin";
  private final Path folder = Paths.get(System.getenv("WHETSTONE_FORK"));
  private final Path jar = folder.resolve("whetstone.jar");
  private final List<String> lines = Collections.synchronizedList(new ArrayList<String>());
  private final Map<MavenProject, List<String>> chosen = new LinkedHashMap<>();
  private final Set<MavenProject> tested = new HashSet<>();
  private final Map<MavenProject, String> untouched = new HashMap<>();
  private byte[] key;
  private byte[] jarBytes;
  private byte[] forkKey;
  private String classes;
  private String broken = "";
  private boolean crashed;

  @Override public void onEvent(Object event) {
    if (!(event instanceof ExecutionEvent)) return;
    ExecutionEvent execution = (ExecutionEvent) event;
    try {
      switch (execution.getType()) {
        case SessionStarted: begin(execution.getSession()); break;
        case ProjectStarted: checkUntouched(execution.getProject()); break;
        case MojoStarted: if (isTest(execution)) beginFork(execution.getProject()); break;
        case MojoSucceeded: if (isTest(execution)) endFork(execution.getProject()); break;
        case MojoFailed:
        case ProjectFailed: failed(execution); break;
        case SessionEnded: end(); break;
        default:
      }
    } catch (Throwable error) {
      System.err.println("whetstone: " + error);
      crashed = true;
    }
  }

  private static boolean isTest(ExecutionEvent event) {
    MojoExecution mojo = event.getMojoExecution();
    return mojo != null && mojo.getArtifactId().equals("maven-surefire-plugin") && mojo.getGoal().equals("test");
  }

  private void begin(MavenSession session) throws Exception {
    Path name = folder.resolve("key");
    key = Files.readAllBytes(name);
    Files.delete(name);
    jarBytes = Files.readAllBytes(jar);
    Path tree = Paths.get(System.getProperty("user.dir")).toRealPath();
    List<String> files = Files.readAllLines(folder.resolve("files"), StandardCharsets.UTF_8);
    for (MavenProject project : session.getProjects()) {
      List<String> includes = new ArrayList<>();
      for (String file : files) {
        Path path = tree.resolve(file);
        if (session.getProjects().stream().anyMatch((other) -> isInner(other, project) && path.startsWith(real(other.getBasedir())))) continue;
        if (!path.startsWith(real(project.getBasedir()))) continue;
        chosen.computeIfAbsent(project, (none) -> new ArrayList<>()).add(file);
        includes.add(classPath(project, path));
      }
      configure(project, includes);
      untouched.put(project, stateOf(project, session.getProjects()));
    }
  }

  private void checkUntouched(MavenProject project) throws IOException {
    if (tested.isEmpty() || stateOf(project, untouched.keySet()).equals(untouched.get(project))) return;
    throw new IllegalStateException("tests changed the files of " + project.getArtifactId() + ", which was not yet built.");
  }

  /** Of a module's files, those of modules inside of it left out. */
  private static String stateOf(MavenProject project, Collection<MavenProject> all) throws IOException {
    List<Path> inner = new ArrayList<>();
    for (MavenProject other : all) if (isInner(other, project)) inner.add(other.getBasedir().toPath());
    return state(project.getBasedir().toPath(), (file) -> inner.stream().noneMatch(file::startsWith));
  }

  /** Changes with any change to one of the files: who writes to a file can set its time, but not the time of that. */
  private static String state(Path root, java.util.function.Predicate<Path> isPart) throws IOException {
    if (!Files.isDirectory(root)) return "";
    boolean isUnix = root.getFileSystem().supportedFileAttributeViews().contains("unix");
    String attributes = isUnix ? "unix:ctime,ino,size" : "size,lastModifiedTime";
    StringBuilder text = new StringBuilder();
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : (Iterable<Path>) files.filter(isPart).filter(Files::isRegularFile).sorted()::iterator)
        text.append(file).append(new TreeMap<>(Files.readAttributes(file, attributes))).append('\n');
    }
    return text.toString();
  }

  private static String classesOf(MavenProject project) throws IOException {
    String all = "";
    for (String name : new String[] {project.getBuild().getOutputDirectory(), project.getBuild().getTestOutputDirectory()})
      all += state(Paths.get(name), (file) -> file.toString().endsWith(".class"));
    return all;
  }

  private static boolean isInner(MavenProject other, MavenProject project) {
    return other != project && real(other.getBasedir()).startsWith(real(project.getBasedir())) && !other.getBasedir().equals(project.getBasedir());
  }

  private static Path real(File file) {
    try { return file.toPath().toRealPath(); } catch (IOException error) { return file.toPath().toAbsolutePath(); }
  }

  /** The file's path below its source root. */
  private static String classPath(MavenProject project, Path path) {
    List<Path> roots = new ArrayList<>();
    for (Object root : project.getTestCompileSourceRoots()) roots.add(real(new File(String.valueOf(root))));
    for (String language : new String[] {"java", "kotlin", "groovy", "scala"}) roots.add(real(project.getBasedir()).resolve("src/test/" + language));
    for (Path root : roots) if (path.startsWith(root)) return root.relativize(path).toString().replace('\\', '/').replaceAll("\\.[a-z]+$", ".java");
    return "**/" + path.getFileName().toString().replaceAll("\\.[a-z]+$", ".java");
  }

  private void configure(MavenProject project, List<String> includes) {
    Plugin plugin = project.getPlugin(SUREFIRE);
    if (plugin == null) return;
    boolean hasTestNg = project.getDependencies().stream().anyMatch((dependency) -> dependency.getGroupId().equals("org.testng"));
    for (PluginExecution execution : plugin.getExecutions()) execution.setConfiguration(adjusted(execution.getConfiguration(), includes, hasTestNg));
    plugin.setConfiguration(adjusted(plugin.getConfiguration(), includes, hasTestNg));
  }

  private Xpp3Dom adjusted(Object given, List<String> includes, boolean hasTestNg) {
    Xpp3Dom configuration = given == null ? new Xpp3Dom("configuration") : new Xpp3Dom((Xpp3Dom) given);
    remove(configuration, "forkMode");
    set(configuration, "forkCount", "1");
    set(configuration, "reuseForks", "true");
    set(configuration, "testFailureIgnore", "true");
    set(configuration, "failIfNoTests", "false");
    set(configuration, "rerunFailingTestsCount", "0");
    set(configuration, "skipAfterFailureCount", "0");
    set(configuration, "skip", "false");
    set(configuration, "skipTests", String.valueOf(includes.isEmpty()));
    // Else surefire runs what the file names, whatever it is told to include.
    remove(configuration, "suiteXmlFiles");
    remove(configuration, "includesFile");
    Xpp3Dom list = set(configuration, "includes", null);
    for (String include : includes) add(list, "include", include);
    Xpp3Dom extra = configuration.getChild("additionalClasspathElements");
    if (extra == null) add(configuration, extra = new Xpp3Dom("additionalClasspathElements"));
    add(extra, "additionalClasspathElement", jar.toString());
    if (!hasTestNg) nameListener(configuration);
    return configuration;
  }

  private static void nameListener(Xpp3Dom configuration) {
    Xpp3Dom properties = configuration.getChild("properties");
    if (properties == null) add(configuration, properties = new Xpp3Dom("properties"));
    for (Xpp3Dom property : properties.getChildren("property")) {
      Xpp3Dom name = property.getChild("name");
      if (name == null || !"listener".equals(name.getValue())) continue;
      property.getChild("value").setValue(property.getChild("value").getValue() + ",whetstone.JUnit4Listener");
      return;
    }
    Xpp3Dom property = new Xpp3Dom("property");
    add(property, "name", "listener");
    add(property, "value", "whetstone.JUnit4Listener");
    add(properties, property);
  }

  private static void remove(Xpp3Dom from, String name) {
    for (int at = from.getChildCount() - 1; at >= 0; at--) if (from.getChild(at).getName().equals(name)) from.removeChild(at);
  }
  private static Xpp3Dom set(Xpp3Dom in, String name, String value) { remove(in, name); return add(in, name, value); }
  private static Xpp3Dom add(Xpp3Dom in, String name, String value) {
    Xpp3Dom child = new Xpp3Dom(name);
    if (value != null) child.setValue(value);
    return add(in, child);
  }
  private static Xpp3Dom add(Xpp3Dom in, Xpp3Dom child) { in.addChild(child); return child; }

  private void beginFork(MavenProject project) throws Exception {
    String shadow = shadowed(project);
    if (shadow != null) throw new IllegalStateException(shadow + " stands in for a class of the test framework.");
    classes = classesOf(project);
    forkKey = new byte[32];
    new SecureRandom().nextBytes(forkKey);
    Files.deleteIfExists(folder.resolve("fork-results"));
    Files.deleteIfExists(jar);
    Files.write(jar, jarBytes);
    Files.write(folder.resolve("fork-key"), forkKey);
  }

  /** Lines of the fork as far as its key authenticates them, and whether all of them do. */
  private void endFork(MavenProject project) throws Exception {
    tested.add(project);
    if (!classesOf(project).equals(classes)) throw new IllegalStateException("the tests changed classes of their own.");
    boolean neverStarted = Files.deleteIfExists(folder.resolve("fork-key"));
    Path name = folder.resolve("fork-results");
    if (neverStarted && !Files.exists(name)) return;
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(forkKey, "HmacSHA256"));
    forkKey = null;
    String module = project.getBasedir().getPath();
    long count = 0;
    String last = "";
    try (BufferedReader reader = Files.newBufferedReader(name, StandardCharsets.US_ASCII)) {
      for (String line; (line = reader.readLine()) != null; count++) {
        String body = line.length() > 65 ? line.substring(65) : "";
        mac.update((count + ":").getBytes(StandardCharsets.UTF_8));
        byte[] tag = mac.doFinal(body.getBytes(StandardCharsets.UTF_8));
        if (!MessageDigest.isEqual(Recorder.hex(tag).getBytes(StandardCharsets.US_ASCII), line.substring(0, Math.min(64, line.length())).getBytes(StandardCharsets.US_ASCII)))
          throw new IllegalStateException("the fork's results are not its own.");
        last = body;
        if (!body.startsWith("{\"kind\":\"test\"")) continue;
        StringBuilder text = new StringBuilder(body.substring(0, body.length() - 1)).append(",\"module\":");
        Recorder.quote(text, module);
        lines.add(text.append('}').toString());
      }
    }
    if (!last.equals("{\"kind\":\"end\",\"unfinished\":\"0\"}")) throw new IllegalStateException("the fork ended before its tests.");
  }

  private void failed(ExecutionEvent event) {
    if (isTest(event)) crashed = true;
    if (!broken.isEmpty() || event.getException() == null) return;
    StringBuilder text = new StringBuilder();
    Throwable at = event.getException();
    for (int depth = 0; at != null && depth < 10; depth++, at = at.getCause()) {
      String message = String.valueOf(at.getMessage());
      if (text.indexOf(message) < 0) text.append(message).append('\n');
    }
    broken = text.length() > 8000 ? text.substring(0, 8000) : text.toString();
  }

  private void end() throws Exception {
    if (crashed || key == null) return;
    for (Map.Entry<MavenProject, List<String>> entry : chosen.entrySet()) {
      if (tested.contains(entry.getKey())) continue;
      for (String file : entry.getValue()) {
        StringBuilder text = new StringBuilder("{\"kind\":\"broken\",\"file\":");
        Recorder.quote(text, file);
        Recorder.quote(text.append(",\"message\":"), broken);
        lines.add(text.append('}').toString());
      }
    }
    StringBuilder all = new StringBuilder();
    for (String line : lines) all.append(line).append('\n');
    byte[] results = all.append("{\"kind\":\"end\"}\n").toString().getBytes(StandardCharsets.UTF_8);
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    Files.write(folder.resolve("results.jsonl"), results);
    Files.write(folder.resolve("results.jsonl.proof"), Recorder.hex(mac.doFinal(results)).getBytes(StandardCharsets.US_ASCII));
  }

  /** A class among the tree's own that a dependency for tests, or surefire, has too; null where there is none. */
  private static String shadowed(MavenProject project) throws IOException {
    Set<String> own = new TreeSet<>();
    for (String element : elements(project)) {
      Path root = Paths.get(element);
      if (!Files.isDirectory(root) || element.equals(project.getBuild().getTestOutputDirectory())) continue;
      try (Stream<Path> files = Files.walk(root)) {
        files.filter((file) -> file.toString().endsWith(".class")).forEach((file) -> own.add(root.relativize(file).toString().replace('\\', '/')));
      }
    }
    for (String name : own) if (name.startsWith("org/apache/maven/surefire/") || name.startsWith("whetstone/")) return name;
    for (Artifact artifact : project.getArtifacts()) {
      File file = artifact.getFile();
      if (file == null || !file.isFile() || !isForTests(artifact)) continue;
      try (ZipFile zip = new ZipFile(file)) {
        for (String name : own) if (zip.getEntry(name) != null) return name;
      }
    }
    return null;
  }

  private static List<String> elements(MavenProject project) {
    try { return project.getTestClasspathElements(); } catch (Exception error) { throw new IllegalStateException(error); }
  }

  private static boolean isForTests(Artifact artifact) {
    String group = artifact.getGroupId();
    return "test".equals(artifact.getScope()) || group.equals("junit") || group.startsWith("org.junit") || group.equals("org.testng")
      || group.equals("org.hamcrest") || group.equals("org.assertj") || group.equals("org.opentest4j") || group.equals("org.mockito");
  }
}
`,
};

/** How Maven finds it. */
export const spyIndex: Readonly<Record<string, string>> = { 'META-INF/sisu/javax.inject.Named': 'whetstone.Spy\n' };

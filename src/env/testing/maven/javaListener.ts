/**
 * Java sources of what listens inside of the JVM that runs the tests: one listener for each framework, found by the framework
 * itself (a service) or named to it, and the recorder that they write to. `javaStubs` are the few declarations of the
 * frameworks that they are compiled against; the real ones take their place when they run.
 *
 * The fork's key is read and deleted when the framework makes its listener, before any class of the tests is set up. It is on
 * no static field: only objects that the framework holds on its own stack lead to it. Each line that is written is
 * authenticated together with its number, so that lines can be neither added, changed, dropped nor put in another order.
 * Not covered: code that shares a JVM can read its heap (a heap dump, an agent that it attaches to itself, as Mockito does,
 * native code), and an object that equals everything is legal Java.
 */
export const javaListeners: Readonly<Record<string, string>> = {
  'whetstone/Recorder.java': String.raw`
package whetstone;

import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Writes lines of JSON, each with its authenticator. */
final class Recorder {
  private final Object lock = new Object();
  private final OutputStream out;
  private final Mac mac;
  private long count;

  private Recorder(OutputStream out, Mac mac) { this.out = out; this.mac = mac; }

  /** Null where the key is gone: tests may start a framework of their own. */
  static Recorder open() {
    String folder = System.getenv("WHETSTONE_FORK");
    if (folder == null) return null;
    try {
      Path name = Paths.get(folder, "fork-key");
      byte[] key = Files.readAllBytes(name);
      Files.delete(name);
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      mac.doFinal(new byte[0]);
      return new Recorder(new FileOutputStream(new File(folder, "fork-results")), mac);
    } catch (IOException | java.security.GeneralSecurityException error) {
      return null;
    }
  }

  void write(String kind, Object... fields) {
    StringBuilder text = new StringBuilder("{\"kind\":");
    quote(text, kind);
    for (int at = 0; at + 1 < fields.length; at += 2) {
      text.append(',');
      quote(text, (String) fields[at]);
      text.append(':');
      value(text, fields[at + 1]);
    }
    text.append('}');
    byte[] body = text.toString().getBytes(StandardCharsets.UTF_8);
    synchronized (lock) {
      try {
        mac.update((count + ":").getBytes(StandardCharsets.UTF_8));
        count += 1;
        byte[] tag = mac.doFinal(body);
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        line.write(hex(tag).getBytes(StandardCharsets.US_ASCII));
        line.write(' ');
        line.write(body);
        line.write('\n');
        out.write(line.toByteArray());
      } catch (IOException error) {
        throw new UncheckedIOException(error);
      }
    }
  }

  /** What a failed test's record holds of the error and its causes. */
  static Object[] describe(Throwable error) {
    if (error == null) return new Object[] {"", "", new ArrayList<String>()};
    List<String> frames = new ArrayList<>();
    Throwable at = error;
    for (int depth = 0; at != null && depth < 5; depth++, at = at.getCause() == at ? null : at.getCause()) {
      if (depth > 0) frames.add("Caused by " + at.getClass().getName() + ": " + messageOf(at));
      StackTraceElement[] trace = at.getStackTrace();
      for (int i = 0; trace != null && i < trace.length && i < 200; i++)
        frames.add(trace[i].getClassName() + "\t" + trace[i].getFileName() + "\t" + trace[i].getLineNumber());
    }
    return new Object[] {error.getClass().getName(), messageOf(error), frames};
  }

  private static String messageOf(Throwable error) {
    String message;
    try { message = error.getMessage(); } catch (Throwable failed) { message = null; }
    if (message == null) return "";
    return message.length() > 4000 ? message.substring(0, 4000) : message;
  }

  private static void value(StringBuilder text, Object value) {
    if (!(value instanceof List)) { quote(text, String.valueOf(value)); return; }
    String separator = "[";
    for (Object item : (List<?>) value) { text.append(separator); quote(text, String.valueOf(item)); separator = ","; }
    text.append(separator.equals("[") ? "[]" : "]");
  }

  static void quote(StringBuilder text, String value) {
    text.append('"');
    for (int at = 0; at < value.length(); at++) {
      char c = value.charAt(at);
      if (c == '"' || c == '\\') text.append('\\').append(c);
      else if (c < ' ' || c > '~') { text.append("\\u"); for (int s = 12; s >= 0; s -= 4) text.append(Character.forDigit(c >> s & 15, 16)); }
      else text.append(c);
    }
    text.append('"');
  }

  static String hex(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    for (byte b : bytes) text.append(Character.forDigit(b >> 4 & 15, 16)).append(Character.forDigit(b & 15, 16));
    return text.toString();
  }
}
`,
  'whetstone/PlatformListener.java': String.raw`
package whetstone;

import java.util.*;
import org.junit.platform.engine.*;
import org.junit.platform.engine.support.descriptor.*;
import org.junit.platform.launcher.*;

/** JUnit 5 and whatever else runs on its platform. */
public final class PlatformListener implements TestExecutionListener {
  private final Recorder recorder = Recorder.open();
  private final Set<String> open = Collections.synchronizedSet(new LinkedHashSet<String>());
  private volatile TestPlan plan;

  @Override public void testPlanExecutionStarted(TestPlan started) {
    if (recorder == null) return;
    plan = started;
    for (TestIdentifier root : started.getRoots())
      for (TestIdentifier found : started.getDescendants(root)) if (found.isTest()) open.add(found.getUniqueId());
    recorder.write("begin");
  }

  @Override public void testPlanExecutionFinished(TestPlan finished) {
    if (recorder == null) return;
    recorder.write("end", "unfinished", String.valueOf(open.size()));
  }

  @Override public void executionStarted(TestIdentifier test) {
    if (recorder != null && test.isTest()) open.add(test.getUniqueId());
  }

  @Override public void executionSkipped(TestIdentifier test, String reason) {
    if (recorder == null) return;
    List<TestIdentifier> tests = testsIn(test);
    for (TestIdentifier each : tests.isEmpty() ? Collections.singletonList(test) : tests) write(each, "skipped", null);
  }

  @Override public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    if (recorder == null) return;
    TestExecutionResult.Status status = result.getStatus();
    Throwable error = result.getThrowable().orElse(null);
    if (test.isTest()) {
      write(test, status == TestExecutionResult.Status.SUCCESSFUL ? "passed" : status == TestExecutionResult.Status.ABORTED ? "skipped" : "failed", error);
      return;
    }
    // Tests in a class that was not set up are never reported.
    List<TestIdentifier> missing = new ArrayList<>();
    for (TestIdentifier each : testsIn(test)) if (open.contains(each.getUniqueId())) missing.add(each);
    if (status == TestExecutionResult.Status.SUCCESSFUL) return;
    String word = status == TestExecutionResult.Status.ABORTED ? "skipped" : "failed";
    for (TestIdentifier each : missing) write(each, word, error);
    if (missing.isEmpty() && word.equals("failed")) write(test, word, error);
  }

  private List<TestIdentifier> testsIn(TestIdentifier container) {
    List<TestIdentifier> tests = new ArrayList<>();
    if (!container.isTest()) for (TestIdentifier each : plan.getDescendants(container)) if (each.isTest()) tests.add(each);
    return tests;
  }

  private void write(TestIdentifier test, String status, Throwable error) {
    open.remove(test.getUniqueId());
    LinkedList<String> path = new LinkedList<>();
    String type = "";
    boolean invocation = false;
    for (TestIdentifier at = test; at != null; at = plan.getParent(at).orElse(null)) {
      TestSource source = at.getSource().orElse(null);
      if (source instanceof ClassSource) {
        String name = ((ClassSource) source).getClassName();
        if (type.isEmpty()) type = name;
        path.addFirst(name.substring(Math.max(name.lastIndexOf('.'), name.lastIndexOf('$')) + 1));
      } else if (plan.getParent(at).isPresent()) {
        if (type.isEmpty() && source instanceof MethodSource) type = ((MethodSource) source).getClassName();
        String id = at.getUniqueId();
        String segment = id.substring(id.lastIndexOf('[') + 1);
        // A parametrized test's own name stands in those of its invocations.
        if (!invocation) path.addFirst(segment.startsWith("dynamic-") ? at.getDisplayName() : withoutBrackets(at.getLegacyReportingName()));
        invocation = segment.startsWith("test-template-invocation");
      }
    }
    Object[] words = Recorder.describe(error);
    recorder.write("test", "class", type, "path", path, "status", status, "error", words[0], "message", words[1], "stack", words[2]);
  }

  private static String withoutBrackets(String name) {
    return name.endsWith("()") ? name.substring(0, name.length() - 2) : name;
  }
}
`,
  'whetstone/JUnit4Listener.java': String.raw`
package whetstone;

import java.util.*;
import org.junit.runner.*;
import org.junit.runner.notification.*;

/** JUnit 4, and JUnit 3 that runs on it. */
public final class JUnit4Listener extends RunListener {
  private final Recorder recorder = Recorder.open();
  private final Map<Description, String> status = Collections.synchronizedMap(new HashMap<Description, String>());

  @Override public void testRunStarted(Description all) { if (recorder != null) recorder.write("begin"); }
  @Override public void testRunFinished(Result result) {
    if (recorder != null) recorder.write("end", "unfinished", String.valueOf(status.size()));
  }
  @Override public void testStarted(Description test) { status.put(test, "passed"); }
  @Override public void testIgnored(Description test) { write(test, "skipped", null); }
  @Override public void testAssumptionFailure(Failure failure) {
    if (status.containsKey(failure.getDescription())) status.put(failure.getDescription(), "skipped");
    else write(failure.getDescription(), "skipped", null);
  }
  @Override public void testFailure(Failure failure) {
    Description test = failure.getDescription();
    // One test may fail several times: in itself and when it is torn down.
    if (status.containsKey(test) && status.get(test).equals("failed")) return;
    if (status.containsKey(test)) status.put(test, "failed");
    write(test, "failed", failure.getException());
  }
  @Override public void testFinished(Description test) {
    String how = status.remove(test);
    if (how != null && !how.equals("failed")) write(test, how, null);
  }

  private void write(Description test, String how, Throwable error) {
    if (recorder == null) return;
    String type = test.getClassName() == null ? "" : test.getClassName();
    List<String> path = new ArrayList<>();
    path.add(type.substring(type.lastIndexOf('.') + 1));
    if (test.getMethodName() != null) path.add(test.getMethodName());
    Object[] words = Recorder.describe(error);
    recorder.write("test", "class", type, "path", path, "status", how, "error", words[0], "message", words[1], "stack", words[2]);
  }
}
`,
  'whetstone/TestNgListener.java': String.raw`
package whetstone;

import java.util.*;
import org.testng.*;

public final class TestNgListener implements ITestListener, IConfigurationListener, ISuiteListener {
  private final Recorder recorder = Recorder.open();

  @Override public void onStart(ISuite suite) { if (recorder != null) recorder.write("begin"); }
  @Override public void onFinish(ISuite suite) { if (recorder != null) recorder.write("end", "unfinished", "0"); }
  @Override public void onStart(ITestContext context) {}
  @Override public void onFinish(ITestContext context) {}
  @Override public void onTestStart(ITestResult result) {}
  @Override public void onTestSuccess(ITestResult result) { write(result, "passed"); }
  @Override public void onTestFailure(ITestResult result) { write(result, "failed"); }
  @Override public void onTestFailedButWithinSuccessPercentage(ITestResult result) { write(result, "failed"); }
  /** TestNG skips what depends on something that failed: that is a failure, as in every other runner. */
  @Override public void onTestSkipped(ITestResult result) {
    Throwable error = result.getThrowable();
    write(result, error == null || error instanceof SkipException ? "skipped" : "failed");
  }
  @Override public void onConfigurationSuccess(ITestResult result) {}
  @Override public void onConfigurationFailure(ITestResult result) { write(result, "failed"); }
  @Override public void onConfigurationSkip(ITestResult result) {}

  private void write(ITestResult result, String how) {
    if (recorder == null) return;
    String type = result.getTestClass().getName();
    List<String> path = Arrays.asList(type.substring(type.lastIndexOf('.') + 1), result.getMethod().getMethodName());
    Object[] words = Recorder.describe(how.equals("failed") ? result.getThrowable() : null);
    recorder.write("test", "class", type, "path", path, "status", how, "error", words[0], "message", words[1], "stack", words[2]);
  }
}
`,
};

/** How the frameworks find their listeners. JUnit 4 has no services: surefire is told the name. */
export const listenerServices: Readonly<Record<string, string>> = {
  'META-INF/services/org.junit.platform.launcher.TestExecutionListener': 'whetstone.PlatformListener\n',
  'META-INF/services/org.testng.ITestNGListener': 'whetstone.TestNgListener\n',
};

export const javaStubs: Readonly<Record<string, string>> = {
  'org/junit/platform/launcher/TestExecutionListener.java': `package org.junit.platform.launcher;
import org.junit.platform.engine.TestExecutionResult;
public interface TestExecutionListener {
  default void testPlanExecutionStarted(TestPlan plan) {}
  default void testPlanExecutionFinished(TestPlan plan) {}
  default void executionSkipped(TestIdentifier test, String reason) {}
  default void executionStarted(TestIdentifier test) {}
  default void executionFinished(TestIdentifier test, TestExecutionResult result) {}
}`,
  'org/junit/platform/launcher/TestPlan.java': `package org.junit.platform.launcher;
import java.util.*;
public class TestPlan {
  public Set<TestIdentifier> getRoots() { return null; }
  public Set<TestIdentifier> getDescendants(TestIdentifier of) { return null; }
  public Optional<TestIdentifier> getParent(TestIdentifier of) { return null; }
}`,
  'org/junit/platform/launcher/TestIdentifier.java': `package org.junit.platform.launcher;
import java.util.Optional;
import org.junit.platform.engine.TestSource;
public final class TestIdentifier {
  public String getUniqueId() { return null; }
  public String getDisplayName() { return null; }
  public String getLegacyReportingName() { return null; }
  public boolean isTest() { return false; }
  public Optional<TestSource> getSource() { return null; }
}`,
  'org/junit/platform/engine/TestSource.java': 'package org.junit.platform.engine; public interface TestSource {}',
  'org/junit/platform/engine/TestExecutionResult.java': `package org.junit.platform.engine;
public class TestExecutionResult {
  public enum Status { SUCCESSFUL, ABORTED, FAILED }
  public Status getStatus() { return null; }
  public java.util.Optional<Throwable> getThrowable() { return null; }
}`,
  'org/junit/platform/engine/support/descriptor/ClassSource.java': `package org.junit.platform.engine.support.descriptor;
public class ClassSource implements org.junit.platform.engine.TestSource { public String getClassName() { return null; } }`,
  'org/junit/platform/engine/support/descriptor/MethodSource.java': `package org.junit.platform.engine.support.descriptor;
public class MethodSource implements org.junit.platform.engine.TestSource { public String getClassName() { return null; } }`,
  'org/junit/runner/Description.java': `package org.junit.runner;
public class Description {
  public String getClassName() { return null; }
  public String getMethodName() { return null; }
}`,
  'org/junit/runner/Result.java': 'package org.junit.runner; public class Result {}',
  'org/junit/runner/notification/Failure.java': `package org.junit.runner.notification;
public class Failure {
  public org.junit.runner.Description getDescription() { return null; }
  public Throwable getException() { return null; }
}`,
  'org/junit/runner/notification/RunListener.java': `package org.junit.runner.notification;
import org.junit.runner.*;
public class RunListener {
  public void testRunStarted(Description all) throws Exception {}
  public void testRunFinished(Result result) throws Exception {}
  public void testStarted(Description test) throws Exception {}
  public void testFinished(Description test) throws Exception {}
  public void testFailure(Failure failure) throws Exception {}
  public void testAssumptionFailure(Failure failure) {}
  public void testIgnored(Description test) throws Exception {}
}`,
  'org/testng/ITestNGListener.java': 'package org.testng; public interface ITestNGListener {}',
  'org/testng/ITestContext.java': 'package org.testng; public interface ITestContext {}',
  'org/testng/ISuite.java': 'package org.testng; public interface ISuite {}',
  'org/testng/IClass.java': 'package org.testng; public interface IClass { String getName(); }',
  'org/testng/ITestNGMethod.java': 'package org.testng; public interface ITestNGMethod { String getMethodName(); }',
  'org/testng/SkipException.java': 'package org.testng; public class SkipException extends RuntimeException {}',
  'org/testng/ITestResult.java': `package org.testng;
public interface ITestResult { IClass getTestClass(); ITestNGMethod getMethod(); Throwable getThrowable(); }`,
  'org/testng/ISuiteListener.java': `package org.testng;
public interface ISuiteListener extends ITestNGListener { void onStart(ISuite suite); void onFinish(ISuite suite); }`,
  'org/testng/IConfigurationListener.java': `package org.testng;
public interface IConfigurationListener extends ITestNGListener {
  void onConfigurationSuccess(ITestResult result);
  void onConfigurationFailure(ITestResult result);
  void onConfigurationSkip(ITestResult result);
}`,
  'org/testng/ITestListener.java': `package org.testng;
public interface ITestListener extends ITestNGListener {
  void onTestStart(ITestResult result);
  void onTestSuccess(ITestResult result);
  void onTestFailure(ITestResult result);
  void onTestSkipped(ITestResult result);
  void onTestFailedButWithinSuccessPercentage(ITestResult result);
  void onStart(ITestContext context);
  void onFinish(ITestContext context);
}`,
};

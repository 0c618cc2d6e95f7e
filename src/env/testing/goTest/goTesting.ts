import { channelVariable } from '../nodePreload.js';

/**
 * Go's package `testing`, told to report results where code under test cannot: laid over the installed one for the build
 * of the tests (`go test -overlay`), so that nothing of the tests' own has to be changed.
 *
 * The launcher gives each test process 32 bytes of a secret through a socket, which `testing` takes away when it is
 * initialised; each result then goes back with an HMAC over its number and itself, so that it can neither be forged nor
 * changed nor repeated by code that finds the socket, and one that is held back is noticed. Counted are the tests of the
 * `M` that the generated `main` makes, no others: code under test may call `testing.RunTests` or `MainStart` with tests
 * of its own. Go initialises packages by their dependencies, hence `importFile`.
 * Code under test shares its memory with `testing`: what reaches there from a source is not graded (`gradableGo`).
 */
export const goResultsFile = String.raw`package testing

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
)

const whetstoneChannel = 3

var whetstone struct {
	sync.Mutex
	key     []byte
	count   int
	main    *M
	started map[*common]bool
	example map[string]bool
}

func init() {
	if os.Getenv("${channelVariable}") == "" {
		return
	}
	os.Unsetenv("${channelVariable}")
	syscall.CloseOnExec(whetstoneChannel)
	key := make([]byte, 32)
	for at := 0; at < len(key); {
		n, err := syscall.Read(whetstoneChannel, key[at:])
		if err == syscall.EINTR {
			continue
		}
		if n <= 0 {
			return
		}
		at += n
	}
	whetstone.key = key
	whetstone.started = map[*common]bool{}
	whetstone.example = map[string]bool{}
}

func whetstoneSend(kind, status, name string) {
	if whetstone.key == nil {
		return
	}
	text := fmt.Sprintf("%d %s %s %x", whetstone.count, kind, status, name)
	whetstone.count++
	proof := hmac.New(sha256.New, whetstone.key)
	proof.Write([]byte(text))
	line := []byte(fmt.Sprintf("%x %s\n", proof.Sum(nil), text))
	for len(line) > 0 {
		n, err := syscall.Write(whetstoneChannel, line)
		if err == syscall.EINTR || err == syscall.EAGAIN {
			continue
		}
		if n <= 0 {
			return
		}
		line = line[n:]
	}
}

func whetstoneMain(m *M) *M {
	whetstone.Lock()
	defer whetstone.Unlock()
	var caller [1]uintptr
	runtime.Callers(3, caller[:])
	frame, _ := runtime.CallersFrames(caller[:]).Next()
	if whetstone.key == nil || whetstone.main != nil || frame.Function != "main.main" {
		return m
	}
	whetstone.main = m
	for index := range m.tests {
		test := &m.tests[index]
		name, run := test.Name, test.F
		test.F = func(t *T) {
			whetstoneStart(&t.common, name)
			run(t)
		}
	}
	for index := range m.fuzzTargets {
		target := &m.fuzzTargets[index]
		name, run := target.Name, target.Fn
		target.Fn = func(f *F) {
			whetstoneStart(&f.common, name)
			run(f)
		}
	}
	for index := range m.examples {
		example := &m.examples[index]
		name, run := example.Name, example.F
		example.F = func() {
			whetstoneStart(nil, name)
			run()
		}
	}
	return m
}

func whetstoneStart(test *common, name string) {
	whetstone.Lock()
	defer whetstone.Unlock()
	if test == nil {
		whetstone.example[name] = true
	} else {
		whetstone.started[test] = true
	}
	whetstoneSend("start", "-", name)
}

func whetstoneReport(test *common) {
	status := "passed"
	if test.Failed() {
		status = "failed"
	} else if test.Skipped() {
		status = "skipped"
	}
	whetstone.Lock()
	defer whetstone.Unlock()
	for at := test; at != nil; at = at.parent {
		if whetstone.started[at] {
			whetstoneSend("result", status, test.name)
			return
		}
	}
}

func whetstoneExample(name string, passed *bool) {
	whetstone.Lock()
	defer whetstone.Unlock()
	if !whetstone.example[name] {
		return
	}
	delete(whetstone.example, name)
	if *passed {
		whetstoneSend("result", "passed", name)
	} else {
		whetstoneSend("result", "failed", name)
	}
}

func whetstoneEnd(m *M) {
	whetstone.Lock()
	defer whetstone.Unlock()
	if m == whetstone.main {
		whetstoneSend("end", fmt.Sprint(m.exitCode), "")
	}
}
`;

/** Laid into each package under test: makes Go initialise `testing` first. */
export const importFile = (packageName: string) => `package ${packageName}\n\nimport _ "testing"\n`;

/** What is changed in the files of `testing`: each expression stands for one place, and is followed by what comes there. */
export const goTestingEdits: readonly { readonly file: string; readonly after: string; readonly insert: string }[] = [
  {
    file: 'testing.go',
    after: String.raw`\nfunc \(m \*M\) Run\(\) \(code int\) \{`,
    insert: '\n\tdefer whetstoneEnd(m)',
  },
  {
    file: 'testing.go',
    after: String.raw`\nfunc \(t \*T\) report\(\) \{(?:\n\t.*)*?(?=\n\tdstr := )`,
    insert: '\n\twhetstoneReport(&t.common)',
  },
  {
    file: 'fuzz.go',
    after: String.raw`\nfunc \(f \*F\) report\(\) \{(?:\n\t.*)*?(?=\n\tdstr := )`,
    insert: '\n\twhetstoneReport(&f.common)',
  },
  {
    file: 'example.go',
    after: String.raw`\nfunc \(eg \*InternalExample\) processRunResult\(.*\) \(passed bool\) \{`,
    insert: '\n\tdefer whetstoneExample(eg.Name, &passed)',
  },
  {
    file: 'testing.go',
    after: String.raw`\nfunc MainStart\(.*\) \*M \{(?:\n\t.*)*?\n\treturn (?=&M\{)`,
    insert: 'whetstoneMain(',
  },
  { file: 'testing.go', after: String.raw`\n\treturn whetstoneMain\(&M\{(?:\n\t\t.*)*\n\t\}`, insert: ')' },
];

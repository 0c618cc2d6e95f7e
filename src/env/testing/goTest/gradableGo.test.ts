import { describe, expect, it } from 'vitest';
import { isGradableGo } from './gradableGo.js';

const SOURCE = `package demo

import "syscall"

// Own kills a process.
func Own(process int) error { return syscall.Kill(process, syscall.SIGTERM) }

func pointer() uintptr { return 0 }
`;
const folders = new Set(['demo']);
const grade = (changed: string, original = SOURCE, name = 'demo/own.go') =>
  isGradableGo(name, original, changed, folders);
const withImport = (path: string) => SOURCE.replace('import "syscall"', `import "syscall"\nimport ${path}`);

describe('a changed Go source', () => {
  it('is graded where it stays in the language', () => {
    const changed = SOURCE.replace('SIGTERM', 'SIGKILL');
    expect(grade(changed)).toBe(true);
    const declaring = `${SOURCE}\nfunc max(a, b int) int {\n\tlen, true := 1, 2\n\treturn len + true\n}\nvar f = func() { var nil = 1; _ = nil }\n`;
    expect(grade(declaring)).toBe(true);
    expect(grade('anything', 'else', 'README.md')).toBe(true);
    expect(grade('// import "unsafe" is not needed\npackage demo\n', '')).toBe(true);
  });

  it.each([
    ['imports unsafe', withImport('"unsafe"')],
    ['imports unsafe under another name', withImport('_ "unsafe"')],
    ['imports C', withImport('"C"')],
    ['calls the system with numbers', `${SOURCE}\nfunc a() { syscall.Syscall(syscall.SYS_READ, 0, 0, 0) }\n`],
    ['takes a function that does', `${SOURCE}\nvar call = syscall.RawSyscall6\n`],
    ['writes to another process', `${SOURCE}\nfunc a() { syscall.PtracePokeData(1, 0, nil) }\n`],
    ['names a function to the linker', `${SOURCE}\n//go:linkname send testing.send\nfunc send()\n`],
    ['makes true false', `${SOURCE}\nconst true = false\n`],
    ['declares a word among others', `${SOURCE}\nvar (\n\ta = 1\n\tb, nil = 2, 3\n)\n`],
    ['declares a function of the language', `${SOURCE}\nfunc len(any) int { return 0 }\n`],
    ['declares a type of the language', `${SOURCE}\ntype error struct{}\n`],
  ])('is not graded where it %s', (_, changed) => {
    expect(grade(changed)).toBe(false);
  });

  it('may keep what the original has of it', () => {
    const original = withImport('"unsafe"');
    expect(grade(`${original}\nvar size = unsafe.Sizeof(1)\n`, original)).toBe(true);
  });

  it('is not graded with a new file in assembly or C beside it', () => {
    expect(grade('TEXT', '', 'demo/own.s')).toBe(false);
    expect(grade('int a;', '', 'demo/own.c')).toBe(false);
    expect(grade('int a;', '', 'native/own.c')).toBe(true);
    expect(grade('int b;', 'int a;', 'demo/own.c')).toBe(true);
  });
});

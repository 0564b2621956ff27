package python_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/python"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// TestForkServersHaveHugePages expects that at least one fork server of this process has its memory in huge pages, if the
// kernel supports that. Others may not be ready yet.
func TestForkServersHaveHugePages(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root may read the memory map of a fork server")
	}
	if outcome, _ := runtimetest.Run(t, newEngine(t), programs().Job("def main(): return 1")); outcome.Error != nil {
		t.Fatalf("%+v", outcome.Error)
	}
	start, err := os.ReadFile("start.py")
	if err != nil {
		t.Fatal(err)
	}
	servers, huge := 0, false
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range all {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			t.Fatal(err)
		}
		line, _ := os.ReadFile(name) // the process may have ended
		if !bytes.Contains(line, start) || !ours(pid) {
			continue
		}
		servers++
		parts, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps", pid))
		huge = huge || regexp.MustCompile(`(?m)^\S+ rw-p .*\n(?:[A-Z].*\n)*?AnonHugePages: +[1-9]`).Match(parts)
	}
	if servers == 0 {
		t.Fatal("no fork server found")
	}
	if !huge && hasHugePages(t) {
		t.Errorf("nothing of %d fork servers and their children is in huge pages", servers)
	}
}

// TestForksHaveLessToTakeDown expects that a child has few memory mappings, which makes its end faster. The interpreter's
// code must be in huge pages if the kernel supports that, and each library in two mappings: executable and writable.
func TestForksHaveLessToTakeDown(t *testing.T) {
	t.Parallel()
	source := `import re
def main():
    with open("/proc/self/maps") as file:
        maps = file.read()
    parts = re.findall(r"\S+\.so[.\d]*$", maps, re.M)
    more = {name: parts.count(name) for name in parts if parts.count(name) > 2}
    return [more, len(set(parts)), bool(re.search(r"^\S+00000 r-xp 00000000 00:00 0 *$", maps, re.M))]
`
	outcome, _ := runtimetest.Run(t, newEngine(t), programs().Job(source))
	var parts map[string]int
	var libraries int
	var moved bool
	if err := json.Unmarshal(outcome.Output, &[]any{&parts, &libraries, &moved}); err != nil {
		t.Fatalf("%v, %+v", err, outcome.Error)
	}
	if libraries == 0 || len(parts) > 0 {
		t.Errorf("of %d libraries in memory these are in more than two parts: %v", libraries, parts)
	}
	if !moved && hasHugePages(t) {
		t.Error("the interpreter's code is not in huge pages")
	}
}

// TestForksWithoutProc expects that fork servers work on a host where a jail cannot have its own /proc.
func TestForksWithoutProc(t *testing.T) {
	t.Parallel()
	box, err := sandbox.New(t.Context(), sandbox.Options{Exe: sandboxtest.Exe(t), Without: []string{sandbox.Proc}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	engine := python.New(python.Options{Jailer: worker.FromSandbox(box), Interpreter: "/usr/bin/python3"})
	t.Cleanup(engine.Close)
	source := "import os, sys\ndef main():\n    return [os.path.exists('/proc/self'), hasattr(sys.modules['__main__'], 'serve')]\n"
	if outcome, _ := runtimetest.Run(t, engine, programs().Job(source)); string(outcome.Output) != "[false,true]" {
		t.Errorf("a /proc, and a fork: %s, %+v", outcome.Output, outcome.Error)
	}
}

// ours reports whether a process descends from this one.
func ours(pid int) bool {
	for pid > 1 && pid != os.Getpid() {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		found := regexp.MustCompile(`(?m)^PPid:\s+(\d+)`).FindSubmatch(status)
		if found == nil {
			return false
		}
		pid, _ = strconv.Atoi(string(found[1]))
	}
	return pid > 1
}

// hasHugePages asks the kernel for a huge page and reports success.
func hasHugePages(t *testing.T) bool {
	t.Helper()
	const size = 2 << 20
	memory, err := unix.Mmap(-1, 0, 2*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(memory) })
	for i := range memory {
		memory[i] = 1
	}
	low := size - int(uintptr(unsafe.Pointer(&memory[0]))%size)
	return unix.Madvise(memory[low:low+size], unix.MADV_COLLAPSE) == nil
}

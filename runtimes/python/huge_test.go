package python_test

import (
	"bytes"
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

// TestForkServersHaveHugePages: a fork server's memory and code are in huge pages where it can ask for them, and libraries are
// in two parts, one to run and one to write to.
func TestForkServersHaveHugePages(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root may look at the memory of a fork server")
	}
	if outcome, _ := runtimetest.Run(t, newEngine(t), programs().Job("def main(): return 1")); outcome.Error != nil {
		t.Fatalf("%+v", outcome.Error)
	}
	servers, huge, moved := 0, 0, 0
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range all {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			t.Fatal(err)
		}
		line, _ := os.ReadFile(name) // it may have ended
		if !bytes.Contains(line, []byte("# Starts a fork server")) || !ours(pid) {
			continue
		}
		servers++
		huge += field(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "AnonHugePages")
		maps, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		moved += len(regexp.MustCompile(`(?m)^\S+00000 r-xp 00000000 00:00 0 *$`).FindAll(maps, -1))
		libraries := map[string]int{}
		for _, found := range regexp.MustCompile(`(?m)\S+\.so[.\d]*$`).FindAll(maps, -1) {
			libraries[string(found)]++
		}
		for name, mappings := range libraries {
			if mappings > 2 {
				t.Errorf("%s is in memory in %d parts", name, mappings)
			}
		}
	}
	if servers == 0 {
		t.Fatal("no fork server found")
	}
	if huge == 0 && hasHugePages(t) {
		t.Errorf("nothing of %d fork servers and their children is in huge pages", servers)
	}
	if moved == 0 && hasHugePages(t) {
		t.Error("no interpreter's code is in huge pages")
	}
}

// TestForksWithoutProc: where the host allows no private /proc, there are fork servers all the same.
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

// ours says whether a process comes from this one.
func ours(pid int) bool {
	for pid > 1 && pid != os.Getpid() {
		pid = field(fmt.Sprintf("/proc/%d/status", pid), "PPid")
	}
	return pid > 1
}

// field reads a number of a file of /proc, 0 if there is none.
func field(name, key string) int {
	text, _ := os.ReadFile(name)
	found := regexp.MustCompile(`(?m)^` + key + `:\s+(\d+)`).FindSubmatch(text)
	if found == nil {
		return 0
	}
	value, _ := strconv.Atoi(string(found[1]))
	return value
}

// hasHugePages asks the kernel for one.
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

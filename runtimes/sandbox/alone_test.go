package sandbox_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	role "github.com/atelier-run/atelier/runtimes/sandbox/program"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
)

// mapsEverything is a Python program that tries to execute a file although its filter allows only its own start. It maps
// all free memory until the kernel has only low addresses left, writes a path to the address that the filter accepts,
// and executes it.
const mapsEverything = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
at, word = 1 << 20, ctypes.c_void_p
libc.mmap.restype, libc.mmap.argtypes = word, [word, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [word, ctypes.c_size_t, ctypes.c_int]
libc.execve.argtypes = [word, word, word]
argv = (ctypes.c_char_p * 3)(b"echo", b"escaped", None)
path, failed = b"/usr/bin/echo\0", ctypes.c_void_p(-1).value
size = 1 << 46
while size >= 4096:
    found = libc.mmap(None, size, 0, 0x4022, -1, 0)
    if found == failed: size >>= 1
if libc.mprotect(at, 4096, 3) == 0:
    ctypes.memmove(at, path, len(path))
    libc.execve(at, ctypes.addressof(argv), None)
os.write(1, os.strerror(ctypes.get_errno()).encode())
os._exit(0)
`

// TestHostileExecute runs mapsEverything. The control case may execute every visible file, and there the program must
// succeed: this shows that the filter alone does not prevent the attack.
func TestHostileExecute(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	python, err := role.FindInterpreter("/usr/bin/python3")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		executables []string
		want        string
	}{
		"every file":             {nil, "escaped"},
		"program and its loader": {python.Executables, "Permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if slices.ContainsFunc(box.Level().Lacks, func(l sandbox.Lack) bool { return l.Mechanism == sandbox.Landlock }) {
				t.Skip("only landlock refuses it")
			}
			profile := sandbox.Profile{
				Role: role.Name, Filter: sandbox.FilterAlone, Proc: true, Mounts: python.Mounts, Launcher: name,
				DiskBytes: 8 << 20, Limits: runtimes.DefaultLimits(), Executables: tt.executables,
			}
			c := newChildOf(t, box, profile)
			if err := c.out.WriteJSON(frames.Job, map[string]any{"argv": []string{"/usr/bin/python3", "-I", "-S", "-c", mapsEverything}}); err != nil {
				t.Fatal(err)
			}
			var said strings.Builder
			for {
				kind, payload, err := c.in.Read()
				if err != nil {
					t.Fatal(err)
				}
				if kind == frames.Stdout || kind == frames.Stderr {
					said.Write(payload)
				}
				if kind == frames.Done {
					break
				}
			}
			if got := strings.TrimSpace(said.String()); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

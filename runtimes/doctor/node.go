package doctor

import (
	"context"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/attacks"
	"github.com/atelier-run/atelier/runtimes/sandbox/seccomp"
)

// aloneCalls returns the additional calls that must be blocked for a Node program that may not start other programs.
// One of them maps memory at the address that contains the path of the only allowed program. Otherwise a program could
// write another path there and execute that program.
func aloneCalls() []call {
	there := uintptr(seccomp.ProgramPath)
	return []call{
		{"fork", [6]uintptr{}, refused()},
		{"vfork", [6]uintptr{}, refused()},
		{"clone", [6]uintptr{uintptr(unix.SIGCHLD)}, refused()},
		{"execve", [6]uintptr{bad, bad}, refused()},
		{"execve", [6]uintptr{there}, []syscall.Errno{unix.EFAULT}},
		{"execveat", [6]uintptr{bad, bad}, refused()},
		{"mmap", [6]uintptr{there, 4096, unix.PROT_READ, unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_FIXED, bad}, refused()},
		{"mmap", [6]uintptr{1 << 30, 4096, unix.PROT_READ, unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_GROWSDOWN, bad}, refused()},
		{"mremap", [6]uintptr{1 << 30, 4096, 4096, unix.MREMAP_MAYMOVE | unix.MREMAP_FIXED, there}, refused()},
	}
}

// alone runs a Node program that tries to start another program, without and with the capability subprocess.
func (d *Doctor) alone(ctx context.Context, engines []Engine) {
	for _, e := range engines {
		if e.Language != Node {
			continue
		}
		text := attacks.Source(Node, "process")
		kept := run(ctx, e, job(e, text))
		granted := run(ctx, e, job(e, text, func(j *runtimes.Job) { j.Capabilities.Subprocess = true }))
		c := Check{Group: Syscalls, Name: "processes by grant", Language: Node, Verdict: verdict(kept.kind() == runtimes.Denied && granted.failure() == ""), Fix: ask}
		c.Evidence = fmt.Sprintf("without the grant: %s; with it: %s", orNone(string(kept.kind())), or(granted.failure(), "it works"))
		if c.Verdict == Pass {
			c.Fix = ""
		}
		d.add(c)
	}
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

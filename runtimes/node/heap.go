package node

import "fmt"

const (
	// overhead is what Node takes for itself, before a program does anything: its own heap, its compiled code, threads.
	overhead = 80 << 20
	// stackBytes is the stack of a process. V8 is told to use most of it.
	stackBytes = 16 << 20
	stackKiB   = 12 << 10
)

// flags are those of a Node for programs with a limit of memory. V8 collects its garbage and gives up within that limit, so
// that a program which makes much garbage is not taken for one that keeps much; the control group, which counts buffers and
// everything else too, has room beyond it.
func flags(memory int64) []string {
	const mib = 1 << 20
	megabytes := max(memory/mib, 16)
	semi := min(max(megabytes/16, 1), 16) // three of them are the young generation
	return []string{
		fmt.Sprintf("--max-semi-space-size=%d", semi), fmt.Sprintf("--max-old-space-size=%d", megabytes-3*semi),
		fmt.Sprintf("--stack-size=%d", stackKiB), "--v8-pool-size=2", "--no-addons", "--no-warnings", "--no-deprecation",
	}
}

package node

import "fmt"

const (
	// overhead is the memory in bytes that Node itself uses before a program starts: its own heap, its compiled code
	// and threads.
	overhead = 80 << 20
	// stackBytes is the stack size of a process. V8 may use most of it.
	stackBytes = 16 << 20
	stackKiB   = 12 << 10
)

// flags returns Node's flags for programs with a memory limit in bytes. They limit V8's heap, so that V8 collects garbage
// before the program reaches the limit of its control group. That limit is higher, because the group also counts memory
// outside of the heap, such as buffers.
func flags(memory int64) []string {
	const mib = 1 << 20
	megabytes := max(memory/mib, 16)
	semi := min(max(megabytes/16, 1), 16) // the young generation is three times this size
	return []string{
		fmt.Sprintf("--max-semi-space-size=%d", semi), fmt.Sprintf("--max-old-space-size=%d", megabytes-3*semi),
		fmt.Sprintf("--stack-size=%d", stackKiB), "--v8-pool-size=2", "--no-addons", "--no-warnings", "--no-deprecation",
	}
}

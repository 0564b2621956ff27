package wire

// Command is a program that a jail executes, with its arguments and environment.
type Command struct {
	Argv []string `json:"argv"` // Argv[0] is an absolute path
	Env  []string `json:"env,omitempty"`
}

// Descriptors of a program at its start.
const (
	StdinFD   = 0
	StdoutFD  = 1
	stderrFD  = 2
	ChannelFD = 3 // stream socket to the launcher, for host calls
	lockFD    = 4 // pipe that contains one byte; a process acquires the lock by reading the byte
	unlockFD  = 5 // writing end of the lock pipe; a process releases the lock by writing the byte back
	SyncFD    = 6 // controls the rest of the set-up; closed when the program is executed
	RulesFD   = 7 // landlock rules; closed when the program is executed
	ProcFD    = 8 // directory /proc; closed when the program is executed
	programFD = ProcFD + 1
	FirstFD   = 32 // lowest descriptor that a launcher uses itself; lower numbers are for programs
)

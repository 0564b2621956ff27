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
	lockFD    = 4 // pipe that holds one byte: a process takes the lock by reading it
	unlockFD  = 5 // the same pipe for writing: a process releases the lock by writing the byte back
	SyncFD    = 6 // closed when the program executes: controls the rest of the set-up
	RulesFD   = 7 // closed when the program executes: landlock rules
	ProcFD    = 8 // closed when the program executes: the root of /proc
	programFD = ProcFD + 1
	FirstFD   = 32 // first descriptor of the launcher's own; lower numbers stay free for programs
)

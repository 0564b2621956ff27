package sandbox

// Command is a program that a jail executes, with its arguments and environment.
type Command struct {
	Argv []string `json:"argv"` // Argv[0] is an absolute path
	Env  []string `json:"env,omitempty"`
}

// Descriptors of a program at its start.
const (
	stdinFD   = 0
	stdoutFD  = 1
	stderrFD  = 2
	channelFD = 3 // stream socket to the launcher, for host calls
	lockFD    = 4 // pipe that holds one byte: a process takes the lock by reading it
	unlockFD  = 5 // the same pipe for writing: a process releases the lock by writing the byte back
	syncFD    = 6 // closed when the program executes: controls the rest of the set-up
	rulesFD   = 7 // closed when the program executes: landlock rules
	procFD    = 8 // closed when the program executes: the root of /proc
	programFD = procFD + 1
	firstFD   = 32 // first descriptor of the launcher's own; lower numbers stay free for programs
)

package sandbox

// Command is a program that a jail runs, with all that it gets.
type Command struct {
	Argv []string `json:"argv"` // Argv[0] is an absolute path
	Env  []string `json:"env,omitempty"`
}

// Descriptors of a program when it begins.
const (
	stdinFD   = 0
	stdoutFD  = 1
	stderrFD  = 2
	channelFD = 3 // a stream socket to the child's owner: host calls
	lockFD    = 4 // a pipe with one byte in it: whoever reads it has the lock
	unlockFD  = 5 // and writes it back here
	syncFD    = 6 // until it is the program: how the fork goes on
	rulesFD   = 7 // until it is the program: landlock's rules
	procFD    = 8 // until it is the program: the root of /proc
	programFD = procFD + 1
	firstFD   = 32 // ours are from here, so that they are in nobody's way
)

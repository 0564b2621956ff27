package sandbox

// setup is the configuration of a jail. The server sends it to process 1 as the first frame. The server makes all
// decisions that depend on the host; the jailed side obeys or fails.
type setup struct {
	Filter   Filter            `json:"filter"`
	Seccomp  []byte            `json:"seccomp,omitempty"` // instructions as the kernel takes them; empty leaves the filter out
	Landlock int               `json:"landlock"`          // version of its interface, 0 leaves it out
	Mounts   []Mount           `json:"mounts,omitempty"`
	Links    map[string]string `json:"links,omitempty"` // path → target
	Files    map[string]string `json:"files,omitempty"` // path → content
	Devices  []string          `json:"devices,omitempty"`
	Disk     int64             `json:"disk,omitempty"` // bytes of the private tmpfs, 0 for none
	Proc     bool              `json:"proc,omitempty"`
	Tasks    uint64            `json:"tasks"`              // most processes and threads the jail may ever have
	Launcher bool              `json:"launcher,omitempty"` // process 1 starts children, and gets its orders over a socket of their own
	Users    int               `json:"users,omitempty"`    // of a launcher: how many there are from insideID on
	Groups   int               `json:"groups,omitempty"`   // of a launcher: how many control groups a child joins
	Network  bool              `json:"network,omitempty"`  // of a launcher: each child has a network namespace of its own
	Forks    *Command          `json:"forks,omitempty"`    // of a launcher: the fork server
	Halves   halves            `json:"halves,omitzero"`    // of a launcher with a fork server: Seccomp in two parts
}

// First argument of a jailed process, and exit codes of process 1 before its role serves.
const (
	argument      = "__sbx"
	exitSetup     = 125 // the jail could not be set up; the reason is on stderr
	exitOrphan    = 124 // the server is gone
	exitCgo       = 123 // the binary is linked with cgo
	exitServe     = 1   // Serve returned an error, which is on stderr
	maxSetup      = 1 << 20
	insideID      = 1000
	framesFD      = 3
	hostname      = "sandbox"
	maxFiles      = 256
	inodeSize     = 16 << 10 // bytes of disk per inode
	minInodes     = 4096
	maxStack      = 64 << 20
	softStack     = 8 << 20
	maxSignals    = 256
	maxLocked     = 64 << 10
	probeRole     = "probe"
	rootInodes    = 512
	rootSize      = 1 << 20
	workerThreads = 2
)

// Package wire defines the messages between the server, launchers and jailed processes: the set-up of a jail, orders for
// children and notices about them. It contains only types, constants and their encoding.
package wire

// Setup is the configuration of a jail. The server sends it to process 1 as the first frame. The server makes all decisions
// that depend on the host; process 1 applies the set-up completely or fails.
type Setup struct {
	Filter Filter `json:"filter"`
	// Seccomp filter: instructions in the kernel's format; empty for no filter.
	Seccomp  []byte            `json:"seccomp,omitempty"`
	Landlock int               `json:"landlock"` // version of landlock's interface; 0 for none
	Mounts   []Mount           `json:"mounts,omitempty"`
	Links    map[string]string `json:"links,omitempty"` // path → target
	Files    map[string]string `json:"files,omitempty"` // path → content
	Devices  []string          `json:"devices,omitempty"`
	Hidden   []string          `json:"hidden,omitempty"` // private paths below Mounts, which are made unreadable
	// The only files that may be executed; if it is empty, all files may be.
	Execute  []string `json:"execute,omitempty"`
	Disk     int64    `json:"disk,omitempty"` // size of the private tmpfs in bytes; 0 for none
	Proc     bool     `json:"proc,omitempty"`
	Tasks    uint64   `json:"tasks"`              // absolute limit of processes and threads
	Launcher bool     `json:"launcher,omitempty"` // process 1 starts children, and gets orders over a separate socket
	Users    int      `json:"users,omitempty"`    // launcher only: number of users from insideID on
	Groups   int      `json:"groups,omitempty"`   // launcher only: number of control groups that a child joins
	Network  bool     `json:"network,omitempty"`  // launcher only: each child has its own network namespace
	Forks    *Command `json:"forks,omitempty"`    // launcher only: the fork server
	Halves   Halves   `json:"halves,omitzero"`    // launcher with a fork server only: Seccomp in two parts
}

// First argument of a jailed process, and exit codes of process 1 before its role serves.
const (
	Argument   = "__sbx"
	ExitSetup  = 125 // the jail could not be set up; the reason is on stderr
	ExitOrphan = 124 // the server has ended
	ExitCgo    = 123 // the binary is linked with cgo
	ExitServe  = 1   // Serve returned an error, which is on stderr
	MaxSetup   = 1 << 20
	InsideID   = 1000
	FramesFD   = 3
	Hostname   = "sandbox"
	InodeSize  = 16 << 10 // bytes of disk per inode
	MinInodes  = 4096
	ProbeRole  = "probe"
)

// UsualSlack is the timer slack of programs, in nanoseconds: the default of Linux.
const UsualSlack = 50_000

// Memory of a launcher, in bytes. JobMemory is the part for the jobs that it reads at the same time.
const (
	LauncherMemory = 2 << 30
	JobMemory      = LauncherMemory / 4
)

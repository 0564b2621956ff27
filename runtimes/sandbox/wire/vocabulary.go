package wire

// Filter names a seccomp policy.
type Filter string

// FilterWorker is for our own interpreters. It forbids opening files, executing, and making sockets or processes, but
// allows threads of the Go runtime. FilterCompiler is the same for an engine that generates machine code. FilterProgram
// is for foreign programs: it allows only the calls that a shell or an interpreter needs. FilterAlone is the same for a
// program that may start no others. FilterInstaller is for resolvers of packages, which lock files of their own.
const (
	FilterWorker    Filter = "worker"
	FilterCompiler  Filter = "compiler"
	FilterProgram   Filter = "program"
	FilterAlone     Filter = "alone"
	FilterInstaller Filter = "installer"
)

// Ours reports whether a filter is for our own binary, which needs no files, no disk and no network.
func (f Filter) Ours() bool { return f == FilterWorker || f == FilterCompiler }

// Foreign reports whether a filter is for foreign programs, which have files and a disk.
func (f Filter) Foreign() bool { return f == FilterProgram || f == FilterAlone || f == FilterInstaller }

// Paths in the root of a program's jail. Work, Temp and Shared are directories of one sized file system and the only
// writable places. A worker's root has none of them.
const (
	WorkDir   = "/work"
	TempDir   = "/tmp"
	SharedDir = "/dev/shm"
)

// ProxyAddress is the outgoing proxy of a program with a network. The owner of the Jail accepts the connections. There
// is no other interface and no name resolution, so nothing else can be reached.
const ProxyAddress = "127.0.0.1:3128"

// Mount shows a file or directory of the host at a path of the jail, read-only and with everything beneath it. Of /usr
// it shows only the parts that interpreters need. Files that not every user of the host may read stay hidden.
type Mount struct {
	Host    string `json:"host"`
	Path    string `json:"path"`
	Private bool   `json:"private,omitempty"` // show private files too: the operator named this directory, or the server made it, for programs
}

// Parts of a disk, relative to its root.
const (
	DiskWork   = "/work"
	DiskTemp   = "/tmp"
	DiskShared = "/shm"
)

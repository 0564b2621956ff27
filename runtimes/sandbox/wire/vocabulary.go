package wire

// Filter names a seccomp policy.
type Filter string

// FilterWorker is for the server's own interpreters. It forbids opening or executing files and creating sockets or
// processes, but allows threads of the Go runtime. FilterCompiler is the same, but for an engine that generates machine
// code. FilterProgram is for foreign programs: it allows only the calls that a shell or an interpreter needs.
// FilterAlone is like FilterProgram, but forbids starting other programs. FilterInstaller is like FilterProgram, but
// for package resolvers, which must lock their own files.
const (
	FilterWorker    Filter = "worker"
	FilterCompiler  Filter = "compiler"
	FilterProgram   Filter = "program"
	FilterAlone     Filter = "alone"
	FilterInstaller Filter = "installer"
)

// Ours reports whether a filter is for the server's own binary, which needs no files, no disk and no network.
func (f Filter) Ours() bool { return f == FilterWorker || f == FilterCompiler }

// Foreign reports whether a filter is for foreign programs, which have files and a disk.
func (f Filter) Foreign() bool { return f == FilterProgram || f == FilterAlone || f == FilterInstaller }

// Paths in the root of a program's jail. The three directories are on one file system with a size limit, and no other path
// is writable. A worker's root does not contain them.
const (
	WorkDir   = "/work"
	TempDir   = "/tmp"
	SharedDir = "/dev/shm"
)

// ProxyAddress is the address of the proxy in the jail of a program with a network. The owner of the Jail accepts the
// connections. The program's network namespace has only a loopback interface and no DNS, so the program can reach no
// other address.
const ProxyAddress = "127.0.0.1:3128"

// Mount makes a file or directory of the host visible in the jail, read-only and with all files and mounts below it. Of
// /usr only the directories that interpreters need are visible. Files that not every user of the host may read are hidden.
type Mount struct {
	Host string `json:"host"`
	Path string `json:"path"`
	// Private files are visible too, because the operator or the server provides this directory for programs.
	Private bool `json:"private,omitempty"`
}

// Directories of a private disk, relative to its root.
const (
	DiskWork   = "/work"
	DiskTemp   = "/tmp"
	DiskShared = "/shm"
)

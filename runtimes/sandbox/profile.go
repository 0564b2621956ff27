package sandbox

import "github.com/atelier-run/atelier/runtimes"

// Filter names a seccomp policy.
type Filter string

// FilterWorker is for our own interpreters: nothing that opens, executes, makes sockets or processes; the threads of the
// Go runtime are fine. FilterCompiler is the same for an engine that makes machine code. FilterProgram is for foreign programs: what a shell or an interpreter needs, and no more. FilterAlone is the same for one that may
// start no others.
const (
	FilterWorker   Filter = "worker"
	FilterCompiler Filter = "compiler"
	FilterProgram  Filter = "program"
	FilterAlone    Filter = "alone"
)

// ours says whether a filter is for our own binary: it needs no files, no disk and no network.
func (f Filter) ours() bool { return f == FilterWorker || f == FilterCompiler }

// Foreign says whether a filter is for programs that are not ours: they have files and a disk.
func (f Filter) Foreign() bool { return f == FilterProgram || f == FilterAlone }

// Where things are in the root of a program's jail. Work, Temp and Shared are directories of one sized file system and
// the only places that can be written; a worker's root has none of it.
const (
	WorkDir   = "/work"
	TempDir   = "/tmp"
	SharedDir = "/dev/shm"
)

// ProxyAddress is where a program with a network finds the way out. What comes there is accepted by who has the Jail, and
// nothing else is reached: there is no other interface, and nobody to resolve a name.
const ProxyAddress = "127.0.0.1:3128"

// Mount shows a file or directory of the host, read-only and with everything beneath it, at a path of the jail.
type Mount struct {
	Host string `json:"host"`
	Path string `json:"path"`
}

// Profile says what a jail is for.
//
// A jail with FilterProgram or FilterAlone gets a root with a synthetic /etc, a minimal /dev, the sized tmpfs in WorkDir, TempDir and
// SharedDir, and Mounts; if one of those is /usr, then /bin, /lib and their like come with it as the host has them.
// A jail with FilterWorker or FilterCompiler gets an empty root.
type Profile struct {
	Role      string          // of the Roles that our binary gives to Main
	Filter    Filter          //
	Mounts    []Mount         // of foreign programs only
	DiskBytes int64           // size of the private tmpfs; of foreign programs only, 0 takes it from Limits
	Limits    runtimes.Limits // before the first call of Jail.Limit
	Proc      bool            // mount /proc, with the jail's own processes only

	// Launcher names the process that starts the jail, together with others of the same name; "" starts it directly, as a
	// process 1 of our own. Jails of one launcher have the same Role, Filter, Mounts, Proc, Network and Forks.
	Launcher string
	Network  bool     // a network namespace of its own, with a loopback and ProxyAddress on it; of a launcher without Forks
	Forks    *Command // of a launcher: the fork server whose children its jails are, nil if each executes its program
}

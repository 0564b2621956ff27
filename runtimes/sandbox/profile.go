package sandbox

import (
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// Types of a jail's set-up. They are defined in wire, because the code inside the jail uses them too.
type (
	Filter  = wire.Filter
	Mount   = wire.Mount
	Command = wire.Command
)

// Filters and paths of jails. Package wire documents them.
const (
	FilterWorker    = wire.FilterWorker
	FilterCompiler  = wire.FilterCompiler
	FilterProgram   = wire.FilterProgram
	FilterAlone     = wire.FilterAlone
	FilterInstaller = wire.FilterInstaller

	WorkDir      = wire.WorkDir
	TempDir      = wire.TempDir
	SharedDir    = wire.SharedDir
	ProxyAddress = wire.ProxyAddress
)

// Profile describes a jail.
//
// A jail with FilterProgram, FilterAlone or FilterInstaller gets a root with a synthetic /etc, a minimal /dev, Mounts,
// and the sized tmpfs in WorkDir, TempDir and SharedDir. If one of Mounts is /usr, then /bin, /lib and the like follow as
// on the host. A jail with FilterWorker or FilterCompiler gets an empty root.
type Profile struct {
	Role      string          // one of the roles that the server's binary passes to Main
	Filter    wire.Filter     //
	Mounts    []wire.Mount    // only for foreign programs
	DiskBytes int64           // size of the private tmpfs; only for foreign programs; default: Limits.DiskBytes
	Limits    runtimes.Limits // limits that apply before the first call of Jail.Limit
	Proc      bool            // mount a /proc that shows only the jail's own processes

	// Executables lists the only files that the program may execute, if the filter allows execution at all. nil allows
	// every visible file. Landlock enforces the list, so it has no effect on a host without landlock.
	Executables []string

	// Launcher names the process that starts the jail, together with other jails of the same name. "" starts the jail
	// directly, with its own process 1. Jails of one launcher have the same Role, Filter, Mounts, Proc, Network and
	// Forks.
	Launcher string
	Network  bool          // own network namespace with a loopback and ProxyAddress; only with a launcher without Forks
	Forks    *wire.Command // fork server of a launcher, which forks its jails; nil if each jail executes its program
}

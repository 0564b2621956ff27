package sandbox

import (
	"github.com/atelier-run/atelier/runtimes/sandbox/cgroups"
	"github.com/atelier-run/atelier/runtimes/sandbox/seccomp"
)

// policies returns the policy of each filter. Where no control group counts memory, programs may not create files that
// exist only in memory, because these belong to no process whose memory could be measured. Their sockets also keep the
// default size of their buffers, so that the watch knows how much a socket can hold.
func policies(mode cgroups.Mode) map[Filter]seccomp.Policy {
	program, alone, installer := seccomp.Program(), seccomp.Alone(), seccomp.Installer()
	if mode == cgroups.None {
		program, alone = program.Refuse("memfd_create").KeepBuffers(), alone.Refuse("memfd_create").KeepBuffers()
		installer = installer.Refuse("memfd_create").KeepBuffers()
	}
	return map[Filter]seccomp.Policy{
		FilterWorker: seccomp.Worker(), FilterCompiler: seccomp.Compiler(), FilterProgram: program, FilterAlone: alone, FilterInstaller: installer,
	}
}

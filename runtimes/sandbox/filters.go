package sandbox

import (
	"github.com/atelier-run/atelier/runtimes/sandbox/cgroups"
	"github.com/atelier-run/atelier/runtimes/sandbox/seccomp"
)

// policies returns the policy of each filter. If no control group counts memory, programs may not create files that exist
// only in memory, because the watch measures memory per process and would miss them. They also may not change the size of
// socket buffers, so that the watch knows how many bytes a socket can hold.
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

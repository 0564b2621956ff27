// Package hostile keeps the proof of the jail: programs in every language that try to harm the house, by class, and the
// matrix of how that ended. The programs are its tests and testdata. What is hostile but no program is tested where it
// comes in: HTTP in server/gate and server/servertest, schemas in registry/schema, paths and files in registry and
// registry/blobs, frames in runtimes/frames, results in runtimes/worker, system calls in runtimes/sandbox.
package hostile

// Class is one kind of harm.
type Class string

// The classes, in the order of the matrix.
const (
	CPU         Class = "CPU and wall time"
	Memory      Class = "memory"
	Processes   Class = "processes"
	Output      Class = "output"
	Disk        Class = "disk"
	Files       Class = "files and descriptors"
	HostFiles   Class = "files of the host"
	Secrets     Class = "environment and secrets"
	OtherRuns   Class = "other runs"
	Network     Class = "network and DNS"
	Kernel      Class = "kernel interfaces"
	Signals     Class = "signals and daemons"
	ParserBombs Class = "parser bombs"
	Forging     Class = "result forging"
	Terminal    Class = "terminal escapes"
)

// Classes lists them all.
func Classes() []Class {
	return []Class{
		CPU, Memory, Processes, Output, Disk, Files, HostFiles, Secrets, OtherRuns, Network, Kernel, Signals, ParserBombs, Forging, Terminal,
	}
}

// Package hostile keeps the proof of the walls: programs in every language that try to harm the house, by class; requests,
// documents and paths that do; and the matrix of how all that ended. They are its tests and testdata, and the room is the
// topmost, so that they come in by the real doors. What a room says about its own walls in detail is tested there: frames in
// runtimes/frames, results in runtimes/worker, system calls in runtimes/sandbox.
package hostile

import "github.com/atelier-run/atelier/runtimes"

// Node is JavaScript that Node runs: a column of its own, since its walls are not those of goja.
const Node runtimes.Language = "node"

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

// The classes of what is hostile and no program.
const (
	Hosts       Class = "Host and DNS rebinding"
	Origins     Class = "Origin and sockets"
	SlowClients Class = "slow clients"
	Floods      Class = "floods and bombs"
	Documents   Class = "deep and doubled JSON"
	SchemaBombs Class = "schema bombs"
	Paths       Class = "paths"
)

// EgressClasses lists the classes of what is no program, in the order of the matrix.
func EgressClasses() []Class {
	return []Class{Hosts, Origins, SlowClients, Floods, Documents, SchemaBombs, Paths}
}

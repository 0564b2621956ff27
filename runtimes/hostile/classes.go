// Package hostile tests the isolation with programs in every language that try to harm the server, and with hostile
// requests, documents and paths, each by class. It prints a matrix of the results. The attacks are its tests and
// the catalogue runtimes/attacks. The package is in the topmost layer, so that they use the real APIs. Details of one package's protections
// are tested there: frames in runtimes/frames, results in runtimes/worker, system calls in runtimes/sandbox.
package hostile

import "github.com/atelier-run/atelier/runtimes/attacks"

// Node stands for JavaScript in Node. It has its own column, because its isolation differs from goja's.
const Node = attacks.Node

// Class is one kind of attack.
type Class string

// These constants are the classes in the order of the matrix.
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

// Classes returns all classes of programs.
func Classes() []Class {
	return []Class{
		CPU, Memory, Processes, Output, Disk, Files, HostFiles, Secrets, OtherRuns, Network, Kernel, Signals, ParserBombs, Forging, Terminal,
	}
}

// These constants are the classes of attacks that are not programs.
const (
	Hosts       Class = "Host and DNS rebinding"
	Origins     Class = "Origin and sockets"
	SlowClients Class = "slow clients"
	Floods      Class = "floods and bombs"
	Documents   Class = "deep and doubled JSON"
	SchemaBombs Class = "schema bombs"
	Paths       Class = "paths"
)

// EgressClasses returns the classes of attacks that are not programs, in the order of the matrix.
func EgressClasses() []Class {
	return []Class{Hosts, Origins, SlowClients, Floods, Documents, SchemaBombs, Paths}
}

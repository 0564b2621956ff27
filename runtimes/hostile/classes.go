// Package hostile attacks the server with programs in every language, and with hostile requests, documents and paths.
// It groups the attacks into classes and prints a matrix of the results. Some attacks are tests in this package, others
// come from the catalogue in runtimes/attacks. The package is in the topmost layer, so that attacks use the real APIs.
// Other packages test the details of their own protections: runtimes/frames tests frames, runtimes/worker tests
// results, and runtimes/sandbox tests system calls.
package hostile

import "github.com/atelier-run/atelier/runtimes/attacks"

// Node stands for JavaScript in Node. It has its own column, because its isolation differs from goja's.
const Node = attacks.Node

// Class is one kind of attack.
type Class string

// Classes of programs, in the order of the matrix.
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

// Classes of attacks that are not programs.
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

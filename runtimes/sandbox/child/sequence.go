package child

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/seccomp"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// Step is one system call in the set-up of a forked child. A launcher computes the list of steps once. The list is the
// same whether the launcher or a fork server forks the child.
type Step struct {
	name string
	trap int
	args []arg
}

// arg is an argument of a step.
type arg struct {
	kind   argKind
	number int
	memory []byte
	name   string
}

type argKind int

// Kinds of arguments.
const (
	argNumber argKind = iota
	argMemory         // the address of bytes
	argFilter         // the address of a seccomp program of these instructions
	argFD             // the descriptor of the child that has this name
	argUser           // the user of the child
)

// Names of the descriptors that a forked child gets for its set-up. The descriptors of its control groups are named
// group0, group1, …
const (
	FDStdin   = "stdin"
	FDStdout  = "stdout"
	FDStderr  = "stderr"
	FDChannel = "channel"
	FDLock    = "take"
	FDUnlock  = "give"
	FDSync    = "sync"
	FDRules   = "rules"
	FDDisk    = "disk"
	fdGroup   = "group"
)

// ChildDescriptors returns the names of all descriptors of a child with the given number of control groups. The order is
// that in which a fork server receives the descriptors.
func ChildDescriptors(groups int) []string {
	names := []string{FDStdin, FDStdout, FDStderr, FDChannel, FDLock, FDUnlock, FDSync, FDRules, FDDisk}
	for i := range groups {
		names = append(names, GroupDescriptor(i))
	}
	return names
}

// GroupDescriptor returns the name of the descriptor of the control group with the given index.
func GroupDescriptor(at int) string { return fdGroup + strconv.Itoa(at) }

func number(value int) arg       { return arg{kind: argNumber, number: value} }
func text(value string) arg      { return raw(append([]byte(value), 0)) }
func raw(value []byte) arg       { return arg{kind: argMemory, memory: value} }
func filter(value []byte) arg    { return arg{kind: argFilter, memory: value} }
func descriptor(name string) arg { return arg{kind: argFD, name: name} }

func do(name string, trap int, args ...arg) Step {
	return Step{name: name, trap: trap, args: args}
}

// Steps returns the set-up of a child that is process 1 of a new process namespace and still has the launcher's
// capabilities. The order is that of every jail: groups, namespaces, mounts, limits, the user and landlock. Filtered adds
// the seccomp step, because its filter depends on the process that forks the child.
func Steps(config wire.Setup, groups int) []Step {
	var sequence []Step
	then := func(s ...Step) { sequence = append(sequence, s...) }
	for i := range groups {
		then(do("control group", unix.SYS_WRITE, descriptor(GroupDescriptor(i)), text("0"), number(1)))
	}
	then(
		do("namespaces", unix.SYS_UNSHARE, number(unix.CLONE_NEWNS|unix.CLONE_NEWIPC|unix.CLONE_NEWUTS|unix.CLONE_NEWCGROUP)),
		do("session", unix.SYS_SETSID),
		do("umask", unix.SYS_UMASK, number(0o077)),
		do("timer slack", unix.SYS_PRCTL, number(unix.PR_SET_TIMERSLACK), number(wire.UsualSlack)),
	)
	// The private disk is mounted at WorkDir, its directories at their paths, and finally its work directory over WorkDir.
	// The root of the disk is then unreachable.
	then(
		do("disk", unix.SYS_MOVE_MOUNT, descriptor(FDDisk), text(""), number(unix.AT_FDCWD), text(wire.WorkDir), number(unix.MOVE_MOUNT_F_EMPTY_PATH)),
		bind(wire.WorkDir+wire.DiskTemp, wire.TempDir),
		bind(wire.WorkDir+wire.DiskShared, wire.SharedDir),
		bind(wire.WorkDir+wire.DiskWork, wire.WorkDir),
	)
	if config.Proc {
		then(do("proc", unix.SYS_MOUNT, text("proc"), text("/proc"), text("proc"), number(procFlags), text(procOptions)))
	}
	then(do("work directory", unix.SYS_CHDIR, text(wire.WorkDir)))
	for _, limit := range rlimits(config) {
		then(do("limits", unix.SYS_PRLIMIT64, number(0), number(limit.resource), raw(limit.bytes()), number(0)))
	}
	// An ordinary user may not do this, and does not need it: the namespace then has one user and no additional groups.
	if config.Users > 1 {
		then(do("groups", unix.SYS_SETGROUPS, number(0), number(0)))
	}
	user := arg{kind: argUser}
	then(
		do("group", unix.SYS_SETRESGID, user, user, user),
		do("user", unix.SYS_SETRESUID, user, user, user),
		do("capabilities", unix.SYS_CAPSET, raw(capHeader()), raw(make([]byte, 24))),
	)
	for fd, name := range []string{FDStdin, FDStdout, FDStderr, FDChannel, FDLock, FDUnlock} {
		then(do("descriptors", unix.SYS_DUP3, descriptor(name), number(fd), number(0)))
	}
	then(
		do("descriptors", unix.SYS_DUP3, descriptor(FDSync), number(wire.SyncFD), number(unix.O_CLOEXEC)),
		do("descriptors", unix.SYS_DUP3, descriptor(FDRules), number(wire.RulesFD), number(unix.O_CLOEXEC)),
		do("descriptors", unix.SYS_CLOSE_RANGE, number(wire.ProcFD), number(-1), number(0)),
	)
	if config.Landlock > 0 {
		if config.Proc {
			// The first free descriptor number is always ProcFD, so openat returns it. Only here can the child's own /proc be
			// opened.
			then(
				do("rules", unix.SYS_OPENAT, number(unix.AT_FDCWD), text("/proc"), number(unix.O_PATH|unix.O_CLOEXEC), number(0)),
				do("rules", unix.SYS_LANDLOCK_ADD_RULE, number(wire.RulesFD), number(unix.LANDLOCK_RULE_PATH_BENEATH), raw(rule(Without(config, ProcAccess)&RulesFor(config).Handled_access_fs, wire.ProcFD)), number(0)),
			)
		}
		then(do("landlock", unix.SYS_LANDLOCK_RESTRICT_SELF, number(wire.RulesFD), number(0)))
	}
	return sequence
}

// Filtered appends a step that installs the filter. The step must be the last one, because afterwards the child may
// make only the calls of a program. If code is empty, Filtered adds no step.
func Filtered(sequence []Step, code []byte) []Step {
	if len(code) == 0 {
		return sequence
	}
	return append(sequence, do("seccomp", unix.SYS_SECCOMP, number(unix.SECCOMP_SET_MODE_FILTER), number(0), filter(code)))
}

func bind(from, to string) Step {
	return do("mount "+to, unix.SYS_MOUNT, text(from), text(to), number(0), number(unix.MS_BIND), number(0))
}

// capHeader returns a header for capset with version 3 of the interface. Its pid is 0, the calling process.
func capHeader() []byte {
	return binary.NativeEndian.AppendUint64(nil, unix.LINUX_CAPABILITY_VERSION_3)
}

// rule returns a struct landlock_path_beneath_attr, which is packed: it has no padding.
func rule(access uint64, fd int) []byte {
	return binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint64(nil, access), uint32(fd))
}

// bytes returns a struct rlimit64.
func (l rlimit) bytes() []byte {
	return binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, l.soft), l.hard)
}

// memory stores data in the process that makes the calls.
type memory interface {
	// keep stores bytes at an address that does not change, and returns the address.
	keep(value []byte) uintptr
}

// Heap is the memory of this process.
type Heap struct {
	kept [][]byte // their addresses stay valid, because Go does not move the heap
}

func (h *Heap) keep(value []byte) uintptr {
	h.kept = append(h.kept, value)
	return address(value)
}

// Plan is a list of steps whose constant arguments are already stored in memory. Fill completes it for one child.
type Plan struct {
	Steps  []Step
	calls  []call
	memory memory // memory of the data that calls point to
	moved  int    // index of the step that moves the sync descriptor to number SyncFD
}

// NewPlan prepares the calls of steps. Fill completes them for one child.
func NewPlan(steps []Step, memory memory) *Plan {
	p := &Plan{Steps: steps, calls: make([]call, len(steps)), memory: memory}
	for i, s := range steps {
		p.calls[i].trap = uintptr(s.trap)
		for j, a := range s.args {
			p.calls[i].args[j] = p.constant(a)
			if a.kind == argFD && a.name == FDSync {
				p.moved = i
			}
		}
	}
	return p
}

// constant returns the value of an argument that is the same for every child, and 0 for other arguments.
func (p *Plan) constant(a arg) uintptr {
	switch a.kind {
	case argNumber:
		return uintptr(a.number)
	case argMemory:
		return p.memory.keep(a.memory)
	case argFilter:
		return keepFilter(p.memory, a.memory)
	default:
		return 0
	}
}

// keepFilter stores a struct sock_fprog at an address that does not change, and returns the address.
func keepFilter(memory memory, code []byte) uintptr {
	program := binary.NativeEndian.AppendUint64(nil, uint64(len(code)/seccomp.InstructionSize))
	return memory.keep(binary.NativeEndian.AppendUint64(program, uint64(memory.keep(code))))
}

// Fill returns the calls for one child, with its user id and descriptors. Calls up to index moved report failures on the
// sync descriptor as received, later calls on SyncFD.
func (p *Plan) Fill(user int, fds map[string]int) ([]call, error) {
	calls := slices.Clone(p.calls)
	for i, s := range p.Steps {
		calls[i].says = wire.SyncFD
		if i <= p.moved {
			calls[i].says = uintptr(fds[FDSync])
		}
		for j, a := range s.args {
			switch a.kind {
			case argUser:
				calls[i].args[j] = uintptr(user)
			case argFD:
				fd, ok := fds[a.name]
				if !ok {
					return nil, fmt.Errorf("%s: no descriptor %s", s.name, a.name)
				}
				calls[i].args[j] = uintptr(fd)
			default: // constant
			}
		}
	}
	return calls, nil
}

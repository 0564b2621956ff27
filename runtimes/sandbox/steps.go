package sandbox

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// step is one system call on the way of a forked child into its cell. The list of them is made once for a starter; who
// carries it out, our own fork or the fork server of an interpreter, only fills in what differs between cells.
type step struct {
	Name string `json:"name"`
	Trap int64  `json:"trap"`
	Args []arg  `json:"args"`
}

// arg is an argument of a step.
type arg struct {
	Kind argKind `json:"kind"`
	Int  int64   `json:"int,omitempty"`
	Text string  `json:"text,omitempty"`
}

type argKind string

// The kinds of arguments.
const (
	argInt    argKind = "int"
	argText   argKind = "text"   // the address of a text with a final zero
	argBytes  argKind = "bytes"  // the address of bytes, in base64
	argFilter argKind = "filter" // the address of a seccomp program of instructions, in base64
	argFD     argKind = "fd"     // a descriptor of the cell, by its name
	argUser   argKind = "user"   // the user of the cell
)

// Names of the descriptors that a forked child gets for its cell. Those of the control groups follow, as group0, group1, …
const (
	fdStdin   = "stdin"
	fdStdout  = "stdout"
	fdStderr  = "stderr"
	fdChannel = "channel"
	fdTake    = "take"
	fdGive    = "give"
	fdSync    = "sync"
	fdRules   = "rules"
	fdDisk    = "disk"
	fdGroup   = "group"
)

func number(value int) arg  { return arg{Kind: argInt, Int: int64(value)} }
func text(value string) arg { return arg{Kind: argText, Text: value} }
func raw(value []byte) arg {
	return arg{Kind: argBytes, Text: base64.StdEncoding.EncodeToString(value)}
}
func filter(value []byte) arg {
	return arg{Kind: argFilter, Text: base64.StdEncoding.EncodeToString(value)}
}
func descriptor(name string) arg { return arg{Kind: argFD, Text: name} }

func do(name string, trap int, args ...arg) step {
	return step{Name: name, Trap: int64(trap), Args: append([]arg{}, args...)} // never null
}

// steps is the way into a cell, for a child that is process 1 of a new process namespace and still has the capabilities
// of the starter. The order is that of every jail: groups, namespaces, mounts, limits, the user, landlock, seccomp.
func (config setup) steps(groups int) []step {
	var way []step
	then := func(s ...step) { way = append(way, s...) }
	for i := range groups {
		then(do("control group", unix.SYS_WRITE, descriptor(fmt.Sprint(fdGroup, i)), text("0"), number(1)))
	}
	then(
		do("namespaces", unix.SYS_UNSHARE, number(unix.CLONE_NEWNS|unix.CLONE_NEWIPC|unix.CLONE_NEWUTS|unix.CLONE_NEWCGROUP)),
		do("session", unix.SYS_SETSID),
		do("umask", unix.SYS_UMASK, number(0o077)),
	)
	// The private disk goes over its own place, and its part for work over that: its root is out of reach then.
	then(
		do("disk", unix.SYS_MOVE_MOUNT, descriptor(fdDisk), text(""), number(unix.AT_FDCWD), text(WorkDir), number(unix.MOVE_MOUNT_F_EMPTY_PATH)),
		bind(WorkDir+diskTemp, TempDir),
		bind(WorkDir+diskShared, SharedDir),
		bind(WorkDir+diskWork, WorkDir),
	)
	if config.Proc {
		then(do("proc", unix.SYS_MOUNT, text("proc"), text("/proc"), text("proc"), number(procFlags), text(procOptions)))
	}
	then(do("work directory", unix.SYS_CHDIR, text(WorkDir)))
	for _, limit := range config.rlimits() {
		then(do("limits", unix.SYS_PRLIMIT64, number(0), number(limit.resource), raw(limit.bytes()), number(0)))
	}
	if config.Users > 1 { // an ordinary user may not: there is one user in the namespace, and no more groups than before
		then(do("groups", unix.SYS_SETGROUPS, number(0), number(0)))
	}
	user := arg{Kind: argUser}
	then(
		do("group", unix.SYS_SETRESGID, user, user, user),
		do("user", unix.SYS_SETRESUID, user, user, user),
		do("capabilities", unix.SYS_CAPSET, raw(capHeader()), raw(make([]byte, 24))),
	)
	for fd, name := range []string{fdStdin, fdStdout, fdStderr, fdChannel, fdTake, fdGive} {
		then(do("descriptors", unix.SYS_DUP3, descriptor(name), number(fd), number(0)))
	}
	then(
		do("descriptors", unix.SYS_DUP3, descriptor(fdSync), number(syncFD), number(unix.O_CLOEXEC)),
		do("descriptors", unix.SYS_DUP3, descriptor(fdRules), number(rulesFD), number(unix.O_CLOEXEC)),
		do("descriptors", unix.SYS_CLOSE_RANGE, number(procFD), number(-1), number(0)),
	)
	if config.Landlock > 0 {
		if config.Proc {
			// The first free number is known: that of procFD. Only here is the /proc of this cell to be had.
			then(
				do("rules", unix.SYS_OPENAT, number(unix.AT_FDCWD), text("/proc"), number(unix.O_PATH|unix.O_CLOEXEC), number(0)),
				do("rules", unix.SYS_LANDLOCK_ADD_RULE, number(rulesFD), number(unix.LANDLOCK_RULE_PATH_BENEATH), raw(rule(procAccess&rulesFor(config).Handled_access_fs, procFD)), number(0)),
			)
		}
		then(do("landlock", unix.SYS_LANDLOCK_RESTRICT_SELF, number(rulesFD), number(0)))
	}
	if len(config.Seccomp) > 0 {
		then(do("seccomp", unix.SYS_SECCOMP, number(unix.SECCOMP_SET_MODE_FILTER), number(0), filter(config.Seccomp)))
	}
	return way
}

func bind(from, to string) step {
	return do("mount "+to, unix.SYS_MOUNT, text(from), text(to), number(0), number(unix.MS_BIND), number(0))
}

// capHeader names version 3 of the interface, and oneself.
func capHeader() []byte {
	return binary.NativeEndian.AppendUint64(nil, unix.LINUX_CAPABILITY_VERSION_3)
}

// rule is a struct landlock_path_beneath_attr, which is packed.
func rule(access uint64, fd int) []byte {
	return binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint64(nil, access), uint32(fd))
}

// bytes is a struct rlimit64.
func (l rlimit) bytes() []byte {
	return binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, l.soft), l.hard)
}

// plan is a list of steps with their constant arguments in memory that does not move.
type plan struct {
	steps []step
	calls []call
	kept  [][]byte // what the addresses in calls point to
	moved int      // the step that gives syncFD its number
}

func newPlan(steps []step) (*plan, error) {
	p := &plan{steps: steps, calls: make([]call, len(steps))}
	for i, s := range steps {
		p.calls[i].trap = uintptr(s.Trap)
		for j, a := range s.Args {
			value, err := p.constant(a)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.Name, err)
			}
			p.calls[i].args[j] = value
			if a.Kind == argFD && a.Text == fdSync {
				p.moved = i
			}
		}
	}
	return p, nil
}

// constant answers the value of an argument that is the same for every cell, else 0.
func (p *plan) constant(a arg) (uintptr, error) {
	switch a.Kind {
	case argInt:
		return uintptr(a.Int), nil
	case argText:
		return p.keep(append([]byte(a.Text), 0)), nil
	case argBytes, argFilter:
		value, err := base64.StdEncoding.DecodeString(a.Text)
		if err != nil || a.Kind == argBytes || len(value) == 0 {
			return p.keep(value), err
		}
		code := (*unix.SockFilter)(unsafe.Pointer(&value[0]))
		p.kept = append(p.kept, value)
		program := unix.SockFprog{Len: uint16(len(value) / instructionSize), Filter: code}
		return p.keep(bytes.Clone(unsafe.Slice((*byte)(unsafe.Pointer(&program)), unsafe.Sizeof(program)))), nil
	default:
		return 0, nil
	}
}

func (p *plan) keep(value []byte) uintptr {
	if len(value) == 0 {
		return 0
	}
	p.kept = append(p.kept, value)
	return uintptr(unsafe.Pointer(&value[0]))
}

// fill fills in what belongs to one cell.
func (p *plan) fill(user int, fds map[string]int) ([]call, error) {
	calls := slices.Clone(p.calls)
	for i, s := range p.steps {
		for j, a := range s.Args {
			switch a.Kind {
			case argUser:
				calls[i].args[j] = uintptr(user)
			case argFD:
				fd, ok := fds[a.Text]
				if !ok {
					return nil, fmt.Errorf("%s: no descriptor %s", s.Name, a.Text)
				}
				calls[i].args[j] = uintptr(fd)
			default: // constant
			}
		}
	}
	return calls, nil
}

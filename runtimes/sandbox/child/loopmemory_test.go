package child

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/seccomp"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// allSteps returns the longest sequence of steps, without the filter at its end.
func allSteps() []Step {
	return Steps(wire.Setup{Filter: wire.FilterProgram, Landlock: newestLandlock, Disk: 1 << 20, Proc: true, Users: 2, Tasks: 9}, 4)
}

// TestForkedChildrenMakeTheSameCalls checks that a child of a fork server makes the same calls, with the same arguments,
// as a child that the launcher forks. Addresses may differ, but must point to the same data. The child installs only its
// part of the filter, because it inherits the part of the fork server.
func TestForkedChildrenMakeTheSameCalls(t *testing.T) {
	t.Parallel()
	const at = 0x7f0012340000
	filter := wire.Halves{Server: bytes.Repeat([]byte{5}, 5*seccomp.InstructionSize), Child: bytes.Repeat([]byte{3}, 3*seccomp.InstructionSize)}
	sequence, names := Filtered(allSteps(), filter.Child), ChildDescriptors(4)
	loopImage, err := NewLoopImage(LoopPlace{Memory: at, Control: 40}, allSteps(), filter, names)
	if err != nil {
		t.Fatal(err)
	}
	fds := map[string]int{}
	for i, name := range names {
		fds[name] = 900 + i
	}
	message, passed, err := loopImage.Order(7, 1234, fds)
	if err != nil {
		t.Fatal(err)
	}
	for i, fd := range passed {
		if fd != 900+i || loopImage.numbers[names[i]] != 41+i {
			t.Errorf("%s is %d, and %d at the fork server", names[i], fd, loopImage.numbers[names[i]])
		}
	}
	b := (*loopMemory)(unsafe.Pointer(&loopImage.Image[0]))
	if int(b.length) != len(message) || binary.NativeEndian.Uint64(message) != 7 {
		t.Fatalf("an order of %d bytes begins with %d", len(message), message[:8])
	}
	theirs := unsafe.Slice((*call)(unsafe.Pointer(&message[8])), len(sequence)+len(loopImage.rest))
	own := NewPlan(sequence, &Heap{})
	ours, err := own.Fill(1234, loopImage.numbers)
	if err != nil {
		t.Fatal(err)
	}
	there := func(address uintptr, size int) []byte { return loopImage.Image[address-at:][:size] }
	filterAt := func(address uintptr) []byte { // of a struct sock_fprog
		program := there(address, 16)
		return there(uintptr(binary.NativeEndian.Uint64(program[8:])), int(binary.NativeEndian.Uint16(program))*seccomp.InstructionSize)
	}
	if !slices.Equal(filterAt(b.filter), filter.Server) {
		t.Error("the loop installs another filter")
	}
	for i, s := range sequence {
		if s.name != own.Steps[i].name || theirs[i].trap != ours[i].trap || theirs[i].says != ours[i].says || theirs[i].least != ours[i].least {
			t.Errorf("%s: %+v, and not %+v", s.name, theirs[i], ours[i])
		}
		for j, a := range s.args {
			value, address := ours[i].args[j], theirs[i].args[j]
			switch a.kind {
			case argMemory:
				if !slices.Equal(a.memory, there(address, len(a.memory))) {
					t.Errorf("%s: other bytes", s.name)
				}
			case argFilter:
				if !slices.Equal(filterAt(address), filter.Child) {
					t.Errorf("%s: another filter", s.name)
				}
			default:
				if value != address {
					t.Errorf("%s: argument %d is %#x, and not %#x", s.name, j, address, value)
				}
			}
		}
	}
	// The calls after the sequence only restore the view of its own /proc, and close every descriptor that is not the
	// program's.
	var rest []uintptr
	for _, c := range theirs[len(sequence):] {
		rest = append(rest, c.trap)
	}
	if want := []uintptr{unix.SYS_PRCTL, unix.SYS_WRITE, unix.SYS_CLOSE_RANGE, endOfCalls}; !slices.Equal(rest, want) {
		t.Errorf("the calls after the sequence are %v", rest)
	}
}

// TestLoopMemoryIsFull checks that NewLoopImage refuses too many calls, too much data and too many descriptors, and that
// Order refuses missing descriptors.
func TestLoopMemoryIsFull(t *testing.T) {
	t.Parallel()
	for name, sequence := range map[string][]Step{
		"too many steps": make([]Step, MaxCalls), "too much data": {do("x", 1, text(strings.Repeat("x", maxLoopMemory)))},
	} {
		if _, err := NewLoopImage(LoopPlace{}, sequence, wire.Halves{}, nil); err == nil {
			t.Errorf("%s: there is a syscall program", name)
		}
	}
	if _, err := NewLoopImage(LoopPlace{}, nil, wire.Halves{}, make([]string, wire.MaxPassed+1)); err == nil {
		t.Error("NewLoopImage accepted more descriptors than a message can have")
	}
	for _, names := range [][]string{{FDDisk}, nil} {
		loopImage, err := NewLoopImage(LoopPlace{Thread: 8}, []Step{do("x", 1, descriptor(FDSync))}, wire.Halves{}, names)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := loopImage.Order(1, 1, nil); err == nil {
			t.Errorf("%s: Order accepted a missing descriptor", names)
		}
	}
}

// TestNoHalfFilter checks that a set-up with only one of the two parts of the filter is refused.
func TestNoHalfFilter(t *testing.T) {
	t.Parallel()
	code := make([]byte, seccomp.InstructionSize)
	for name, tt := range map[string]struct {
		whole []byte
		wire.Halves
		fine bool
	}{
		"both":                {code, wire.Halves{Server: code, Child: code}, true},
		"no filter":           {nil, wire.Halves{}, true},
		"no halves":           {code, wire.Halves{}, false},
		"halves of no filter": {nil, wire.Halves{Server: code, Child: code}, false},
		"the server's alone":  {code, wire.Halves{Server: code}, false},
		"the child's alone":   {code, wire.Halves{Child: code}, false},
	} {
		filter, err := Halved(wire.Setup{Seccomp: tt.whole, Halves: tt.Halves})
		if (err == nil) != tt.fine || err == nil && (len(filter.Server) != len(tt.whole) || len(filter.Child) != len(tt.whole)) {
			t.Errorf("%s: %+v, %v", name, filter, err)
		}
	}
	for _, half := range []wire.Halves{{Server: code}, {Child: code}} {
		if _, err := NewLoopImage(LoopPlace{}, nil, half, nil); !errors.Is(err, wire.ErrHalf) {
			t.Errorf("%+v: there is a syscall program, %v", half, err)
		}
	}
}

// TestForkServersMayLittle checks that the filter of a fork server allows only those additional calls that the fork server
// or the set-up of a child needs.
func TestForkServersMayLittle(t *testing.T) {
	t.Parallel()
	needed := []int{unix.SYS_CLONE3}
	for _, s := range allSteps() {
		needed = append(needed, s.trap)
	}
	_, child := seccomp.Forks(seccomp.Program())
	for name := range child.Rules {
		if number, ok := seccomp.Arch(runtime.GOARCH).Number(name); !ok || !slices.Contains(needed, int(number)) {
			t.Errorf("the filter allows %s without need", name)
		}
	}
}

// TestLoopCode checks that the code of the loop is complete and ends at its marker.
func TestLoopCode(t *testing.T) {
	t.Parallel()
	if code := LoopCode(); len(code) < 200 || len(code) > 1000 {
		t.Errorf("%d bytes", len(code))
	}
}

package sandbox

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// allSteps is the longest way that there is.
func allSteps() []step {
	return setup{
		Filter: FilterProgram, Seccomp: make([]byte, 3*instructionSize), Landlock: newestLandlock, Disk: 1 << 20, Proc: true, Users: 2, Tasks: 9,
	}.steps(4)
}

// TestForkedGoTheSameWay: the child of a fork server makes the very calls that one of our own makes, with the same
// arguments. Only addresses are those of another memory, and there is the same behind them.
func TestForkedGoTheSameWay(t *testing.T) {
	t.Parallel()
	const at = 0x7f0012340000
	way, names := allSteps(), cellDescriptors(4)
	drawn, err := draw(forkPlace{Board: at, Control: 40}, way, names)
	if err != nil {
		t.Fatal(err)
	}
	fds := map[string]int{}
	for i, name := range names {
		fds[name] = 900 + i
	}
	message, passed, err := drawn.order(7, 1234, fds)
	if err != nil {
		t.Fatal(err)
	}
	for i, fd := range passed {
		if fd != 900+i || drawn.numbers[names[i]] != 41+i {
			t.Errorf("%s is %d, and %d at the fork server", names[i], fd, drawn.numbers[names[i]])
		}
	}
	b := (*board)(unsafe.Pointer(&drawn.image[0]))
	if int(b.length) != len(message) || binary.NativeEndian.Uint64(message) != 7 {
		t.Fatalf("an order of %d bytes begins with %d", len(message), message[:8])
	}
	theirs := unsafe.Slice((*call)(unsafe.Pointer(&message[8])), len(way)+len(drawn.rest))
	own := newPlan(way, &heap{})
	ours, err := own.fill(1234, drawn.numbers)
	if err != nil {
		t.Fatal(err)
	}
	there := func(address uintptr, size int) []byte { return drawn.image[address-at:][:size] }
	for i, s := range way {
		if s.name != own.steps[i].name || theirs[i].trap != ours[i].trap || theirs[i].says != ours[i].says || theirs[i].least != ours[i].least {
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
				program := there(address, 16)
				code := there(uintptr(binary.NativeEndian.Uint64(program[8:])), len(a.memory))
				if binary.NativeEndian.Uint16(program) != 3 || !slices.Equal(code, a.memory) {
					t.Errorf("%s: another filter", s.name)
				}
			default:
				if value != address {
					t.Errorf("%s: argument %d is %#x, and not %#x", s.name, j, address, value)
				}
			}
		}
	}
	// What is behind the way gives nothing back but the sight of its own /proc, and leaves no descriptor that is not the
	// program's.
	var rest []uintptr
	for _, c := range theirs[len(way):] {
		rest = append(rest, c.trap)
	}
	if want := []uintptr{unix.SYS_PRCTL, unix.SYS_WRITE, unix.SYS_CLOSE_RANGE, endOfCalls}; !slices.Equal(rest, want) {
		t.Errorf("behind the way are %v", rest)
	}
}

// TestBoardIsFull: what does not go on a board is refused, and so is an order without its descriptors.
func TestBoardIsFull(t *testing.T) {
	t.Parallel()
	for name, way := range map[string][]step{
		"too many steps": make([]step, maxCalls), "too much for them": {do("x", 1, text(strings.Repeat("x", maxBoard)))},
	} {
		if _, err := draw(forkPlace{}, way, nil); err == nil {
			t.Errorf("%s: there is a board", name)
		}
	}
	if _, err := draw(forkPlace{}, nil, make([]string, maxPassed+1)); err == nil {
		t.Error("more descriptors than a message has")
	}
	for _, names := range [][]string{{fdDisk}, nil} {
		drawn, err := draw(forkPlace{Thread: 8}, []step{do("x", 1, descriptor(fdSync))}, names)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := drawn.order(1, 1, nil); err == nil {
			t.Errorf("%s: an order without", names)
		}
	}
}

// TestLoopCode: the code of the loop ends where it says, and is all of it.
func TestLoopCode(t *testing.T) {
	t.Parallel()
	if code := loopCode(); len(code) < 200 || len(code) > 1000 {
		t.Errorf("%d bytes", len(code))
	}
}

// TestForkServersThatSayNothing: one that ends while it is told, or says where its board is not.
func TestForkServersThatSayNothing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		said []string
		way  []step
	}{
		"nothing":      {},
		"nonsense":     {said: []string{"{"}},
		"no readiness": {said: []string{"{}"}},
		"no room":      {said: []string{"{}", "ready"}, way: make([]step, maxCalls)},
	} {
		ours, theirs := pair(t, unix.SOCK_SEQPACKET)
		for _, said := range tt.said {
			if _, err := theirs.Write([]byte(said)); err != nil {
				t.Fatal(err)
			}
		}
		if err := theirs.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if _, err := introduce(ours, tt.way, nil); err == nil {
			t.Errorf("%s: it is ready", name)
		}
	}
}

package sandbox

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// loopMemory is what the loop of a fork server works from: machine code (fork_*.s) that takes our orders, forks, and sends the
// child on its way. A warm interpreter that did this itself would touch some hundred pages of its memory for each child,
// and each of them is copied, on both sides of the fork. We write the board once, with addresses as the fork server has
// them; an order replaces its end. What the loop writes is on the first two pages, what it only reads behind them.
type loopMemory struct {
	control  uintptr                         // the socket of orders
	first    uintptr                         // the descriptors that come along are this one and the next ones
	length   uintptr                         // bytes of an order
	space    uintptr                         // bytes that its descriptors take up in a message
	filter   uintptr                         // struct sock_fprog that the loop installs before its first order, 0 for none
	clone    [8]uintptr                      // struct clone_args
	order    header                          // of the message that an order is
	answer   header                          // of ours
	into     [2]uintptr                      // struct iovec: the order
	from     [2]uintptr                      // struct iovec: said
	reported forkNotice                      // what we answer
	handle   [3]uintptr                      // along with this handle on the child
	failure  failure                         // what a child says when it cannot go on
	came     [(16 + 4*maxPassed) / 8]uintptr // the descriptors of an order
	expected [(16 + 4*maxPassed) / 8]uintptr // what they are when everything is right

	id    int64
	calls [maxCalls]call // of the next child
}

// header is a struct msghdr. Its addresses are those of another process, and nothing that the collector may look at.
type header struct {
	name       uintptr
	nameSize   uintptr
	parts      uintptr
	partCount  uintptr
	control    uintptr
	controlLen uintptr
	flags      uintptr
}

// forkNotice is what the loop says of an order: the number of the child, or a negative error number.
type forkNotice struct {
	id  int64
	pid int64
}

// maxCalls is more than any way has, maxLoopMemory what a fork server has room for.
const (
	maxCalls      = 112
	maxLoopMemory = 64 << 10
)

// endOfCalls stands for a number of a call: the child goes back to who called the loop.
const endOfCalls = ^uintptr(0)

// loopPlace is what a fork server says of itself: where the board is to be, the socket of its orders, where libc has the
// number of its first thread, and where its interpreter has the state of its random numbers; 0 for nowhere.
type loopPlace struct {
	Memory  uintptr `json:"memory"`
	Control int     `json:"control"`
	Thread  uintptr `json:"thread"`
	Random  uintptr `json:"random"`
}

// randomSize is the state of a Mersenne twister, in bytes.
const randomSize = 624 * 4

// image is memory of the fork server, as it is to be.
type image struct {
	at    uintptr
	bytes []byte
}

func (m *image) keep(value []byte) uintptr {
	for len(m.bytes)%8 != 0 {
		m.bytes = append(m.bytes, 0)
	}
	m.bytes = append(m.bytes, value...)
	return m.at + uintptr(len(m.bytes)-len(value))
}

// loopImage is a board, and what orders are made of.
type loopImage struct {
	image   []byte
	plan    *plan
	rest    []call // behind the way: the child says that it is ready
	names   []string
	numbers map[string]int // of the descriptors of an order, at the fork server
}

// newLoopImage makes the board for a way. It is here that both parts of the filter come onto it: no child gets its own from somebody
// who did not give the fork server the other one.
func newLoopImage(place loopPlace, sequence []step, filter halves, names []string) (*loopImage, error) {
	if err := filter.check(); err != nil {
		return nil, err
	}
	sequence = filtered(sequence, filter.Child)
	memory := &image{at: place.Memory, bytes: make([]byte, unsafe.Sizeof(loopMemory{}))}
	d := &loopImage{plan: newPlan(sequence, memory), names: names, numbers: map[string]int{}}
	var program uintptr
	if len(filter.Server) > 0 {
		program = keepFilter(memory, filter.Server)
	}
	if place.Random != 0 { // no two children have the same
		d.rest = append(d.rest, call{trap: unix.SYS_GETRANDOM, args: [6]uintptr{place.Random, randomSize}, least: randomSize})
	}
	d.rest = append(d.rest, []call{
		{trap: unix.SYS_PRCTL, args: [6]uintptr{unix.PR_SET_DUMPABLE, 1}}, // its /proc is its own again
		{trap: unix.SYS_WRITE, args: [6]uintptr{syncFD, memory.keep([]byte{reportReady}), 1}, least: 1},
		{trap: unix.SYS_CLOSE_RANGE, args: [6]uintptr{channelFD + 1, ^uintptr(0)}}, // what the way needed
		{trap: endOfCalls},
	}...)
	for i := range d.rest {
		d.rest[i].says = syncFD
	}
	if len(sequence)+len(d.rest) > maxCalls || len(memory.bytes) > maxLoopMemory || len(names) > maxPassed {
		return nil, fmt.Errorf("the way of %d steps does not go on the board", len(sequence))
	}
	var numbers []int
	for i, name := range names {
		d.numbers[name] = place.Control + 1 + i
		numbers = append(numbers, d.numbers[name])
	}
	expected, handle := unix.UnixRights(numbers...), unix.UnixRights(-1)
	to := func(offset uintptr) uintptr { return place.Memory + offset }
	b := (*loopMemory)(unsafe.Pointer(&memory.bytes[0]))
	*b = loopMemory{
		control: uintptr(place.Control), first: uintptr(place.Control + 1),
		length: unsafe.Sizeof(b.id) + uintptr(len(sequence)+len(d.rest))*callSize, space: uintptr(len(expected)), filter: program,
		clone:   [8]uintptr{unix.CLONE_NEWPID | unix.CLONE_PARENT | unix.CLONE_PIDFD, to(unsafe.Offsetof(b.handle)) + uintptr(syscall.CmsgLen(0)), place.Thread},
		order:   header{parts: to(unsafe.Offsetof(b.into)), partCount: 1, control: to(unsafe.Offsetof(b.came))},
		answer:  header{parts: to(unsafe.Offsetof(b.from)), partCount: 1, control: to(unsafe.Offsetof(b.handle)), controlLen: uintptr(len(handle))},
		from:    [2]uintptr{to(unsafe.Offsetof(b.reported)), unsafe.Sizeof(b.reported)},
		failure: failure{mark: reportFailed},
	}
	b.into = [2]uintptr{to(unsafe.Offsetof(b.id)), b.length}
	if place.Thread != 0 { // as libc's own fork has it
		b.clone[0] |= unix.CLONE_CHILD_SETTID | unix.CLONE_CHILD_CLEARTID
	}
	copy(bytesOf(b.expected[:]), expected)
	copy(bytesOf(b.handle[:]), handle)
	d.image = memory.bytes
	return d, nil
}

// order makes the message for a child of a user, with the descriptors that go along.
func (d *loopImage) order(id int64, user int, fds map[string]int) (message []byte, passed []int, err error) {
	for _, name := range d.names {
		fd, ok := fds[name]
		if !ok {
			return nil, nil, fmt.Errorf("no descriptor %s", name)
		}
		passed = append(passed, fd)
	}
	calls, err := d.plan.fill(user, d.numbers)
	if err != nil {
		return nil, nil, err
	}
	message = append(message, bytesOf([]int64{id})...)
	return append(message, bytesOf(append(calls, d.rest...))...), passed, nil
}

// bytesOf is the memory of numbers and calls.
func bytesOf[T uintptr | int64 | call](values []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), uintptr(len(values))*unsafe.Sizeof(values[0]))
}

// loopCode is the machine code of the loop. It is where it is put, and is called as C has it, with the board.
func loopCode() []byte {
	const most = 4 << 10
	code := unsafe.Slice((*byte)(unsafe.Add(nil, loopText())), most)
	for i := range most - len(endOfLoop) {
		if string(code[i:i+len(endOfLoop)]) == endOfLoop {
			return code[:i]
		}
	}
	return nil
}

// endOfLoop stands behind the code of the loop, and is none.
const endOfLoop = "loop end"

// loopText is the address of the loop.
func loopText() uintptr

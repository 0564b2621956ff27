package child

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// loopMemory is the data of the loop of a fork server. The loop is machine code (fork_*.s) that reads orders, forks, and
// makes the child run its syscall program. If the interpreter did this itself, it would write to about a hundred pages
// for each child, and the kernel would copy each of these pages. The launcher fills this memory once, with addresses that
// are valid in the fork server. An order overwrites the fields at its end. The first two pages contain the fields that the
// loop writes, the following pages those that it only reads.
type loopMemory struct {
	control uintptr // the socket of orders
	// Number of the first descriptor of an order; the others have the numbers after it.
	first    uintptr
	length   uintptr                              // length of an order in bytes
	space    uintptr                              // bytes that an order's descriptors take up in a message
	filter   uintptr                              // struct sock_fprog that the loop installs before its first order, 0 for none
	clone    [8]uintptr                           // struct clone_args
	order    header                               // header of an order's message
	answer   header                               // header of the reply's message
	into     [2]uintptr                           // struct iovec of the order
	from     [2]uintptr                           // struct iovec of the reply
	reported forkNotice                           // payload of the reply
	handle   [3]uintptr                           // control message of the reply: the handle on the child
	failure  failure                              // failure report of a child
	came     [(16 + 4*wire.MaxPassed) / 8]uintptr // received descriptors of an order
	expected [(16 + 4*wire.MaxPassed) / 8]uintptr // expected contents of came in a valid order

	id    int64
	calls [MaxCalls]call // syscall program of the next child
}

// header is a struct msghdr. Its addresses belong to another process, so the collector must not follow them.
type header struct {
	name       uintptr
	nameSize   uintptr
	parts      uintptr
	partCount  uintptr
	control    uintptr
	controlLen uintptr
	flags      uintptr
}

// forkNotice is the loop's reply to an order. pid is the process ID of the child, or a negative error number.
type forkNotice struct {
	id  int64
	pid int64
}

// MaxCalls is an upper bound of the number of calls in a syscall program. maxLoopMemory is the number of bytes that a
// fork server reserves for the loop.
const (
	MaxCalls      = 112
	maxLoopMemory = 64 << 10
)

// endOfCalls marks the end of the calls, in place of a call number. The child then returns to the caller of the loop.
const endOfCalls = ^uintptr(0)

// LoopPlace is reported by a fork server. It contains the address of the memory reserved for the loop, the descriptor
// of the socket for orders, and the addresses of libc's thread ID and of the interpreter's random state. An address of
// 0 means that there is no such memory.
type LoopPlace struct {
	Memory  uintptr `json:"memory"`
	Control int     `json:"control"`
	Thread  uintptr `json:"thread"`
	Random  uintptr `json:"random"`
}

// randomSize is the size of the state of a Mersenne twister, in bytes.
const randomSize = 624 * 4

// image is the future contents of the fork server's memory at address at.
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

// LoopImage is the contents of the loop memory, with the data from which Order builds orders.
type LoopImage struct {
	Image   []byte
	Plan    *Plan
	rest    []call // calls after the syscall program's own: the child reports that it is ready
	names   []string
	numbers map[string]int // numbers of an order's descriptors in the fork server
}

// NewLoopImage returns the loop memory for a sequence of steps. It adds both parts of the filter, and no other function
// adds them. So a child can never have its part of the filter without the part of the fork server.
func NewLoopImage(place LoopPlace, sequence []Step, filter wire.Halves, names []string) (*LoopImage, error) {
	if err := filter.Check(); err != nil {
		return nil, err
	}
	sequence = Filtered(sequence, filter.Child)
	memory := &image{at: place.Memory, bytes: make([]byte, unsafe.Sizeof(loopMemory{}))}
	d := &LoopImage{Plan: NewPlan(sequence, memory), names: names, numbers: map[string]int{}}
	var program uintptr
	if len(filter.Server) > 0 {
		program = keepFilter(memory, filter.Server)
	}
	if place.Random != 0 { // fill the random state with new random bytes in each child
		d.rest = append(d.rest, call{trap: unix.SYS_GETRANDOM, args: [6]uintptr{place.Random, randomSize}, least: randomSize})
	}
	d.rest = append(d.rest, []call{
		{trap: unix.SYS_PRCTL, args: [6]uintptr{unix.PR_SET_DUMPABLE, 1}}, // a dumpable process owns its files in /proc again
		{trap: unix.SYS_WRITE, args: [6]uintptr{wire.SyncFD, memory.keep([]byte{ReportReady}), 1}, least: 1},
		{trap: unix.SYS_CLOSE_RANGE, args: [6]uintptr{wire.ChannelFD + 1, ^uintptr(0)}}, // closes the descriptors of the set-up
		{trap: endOfCalls},
	}...)
	for i := range d.rest {
		d.rest[i].says = wire.SyncFD
	}
	if len(sequence)+len(d.rest) > MaxCalls || len(memory.bytes) > maxLoopMemory || len(names) > wire.MaxPassed {
		return nil, fmt.Errorf("the syscall program is too long: it has %d steps of the set-up", len(sequence))
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
		failure: failure{mark: ReportFailed},
	}
	b.into = [2]uintptr{to(unsafe.Offsetof(b.id)), b.length}
	if place.Thread != 0 { // as in libc's own fork
		b.clone[0] |= unix.CLONE_CHILD_SETTID | unix.CLONE_CHILD_CLEARTID
	}
	copy(bytesOf(b.expected[:]), expected)
	copy(bytesOf(b.handle[:]), handle)
	d.Image = memory.bytes
	return d, nil
}

// Order returns the message that orders a child with a user id, and the descriptors to send with it.
func (d *LoopImage) Order(id int64, user int, fds map[string]int) (message []byte, passed []int, err error) {
	for _, name := range d.names {
		fd, ok := fds[name]
		if !ok {
			return nil, nil, fmt.Errorf("no descriptor %s", name)
		}
		passed = append(passed, fd)
	}
	calls, err := d.Plan.Fill(user, d.numbers)
	if err != nil {
		return nil, nil, err
	}
	message = append(message, bytesOf([]int64{id})...)
	return append(message, bytesOf(append(calls, d.rest...))...), passed, nil
}

// ReadForkNotice decodes the reply of a fork server to an order. A negative pid is an error number.
func ReadForkNotice(message []byte) (id, pid int64, ok bool) {
	var n forkNotice
	if len(message) != int(unsafe.Sizeof(n)) {
		return 0, 0, false
	}
	n = *(*forkNotice)(unsafe.Pointer(&message[0]))
	return n.id, n.pid, true
}

// bytesOf returns the memory of numbers and calls.
func bytesOf[T uintptr | int64 | call](values []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), uintptr(len(values))*unsafe.Sizeof(values[0]))
}

// LoopCode returns the machine code of the loop. The code is position-independent. It is called like a C function, with
// the loop memory as its argument.
func LoopCode() []byte {
	const most = 4 << 10
	code := unsafe.Slice((*byte)(unsafe.Add(nil, loopText())), most)
	for i := range most - len(endOfLoop) {
		if string(code[i:i+len(endOfLoop)]) == endOfLoop {
			return code[:i]
		}
	}
	return nil
}

// endOfLoop marks the end of the loop's code and is no code itself.
const endOfLoop = "loop end"

// loopText returns the address of the loop.
func loopText() uintptr

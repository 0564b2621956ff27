package sandbox

import (
	"fmt"
	"io"
	"sync"
)

// Sizes of the head and the tail of a Go trace that are stored. The first lines contain the cause, the last lines the
// place.
const (
	headBytes = 8 << 10
	tailBytes = 8 << 10
)

// ends is a writer that stores the head and the tail of a stream and drops the middle.
type ends struct {
	mu      sync.Mutex
	head    []byte
	tail    []byte
	dropped int64
}

func (e *ends) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	size := len(p)
	room := min(headBytes-len(e.head), len(p))
	e.head, p = append(e.head, p[:room]...), p[room:]
	e.tail = append(e.tail, p...)
	if over := len(e.tail) - tailBytes; over > 0 {
		e.tail = append(e.tail[:0], e.tail[over:]...)
		e.dropped += int64(over)
	}
	return size, nil
}

func (e *ends) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.dropped == 0 {
		return string(e.head) + string(e.tail)
	}
	return fmt.Sprintf("%s\n… %d bytes left out …\n%s", e.head, e.dropped, e.tail)
}

// collect reads r to its end.
func (e *ends) collect(r io.Reader) { _, _ = io.Copy(e, r) }

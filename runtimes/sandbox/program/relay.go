package program

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox/launcher"
)

const (
	// maxCall is the maximum length of the line of a host call. maxName is the maximum length of the function's name.
	maxCall = 1 << 20
	// headOfCall is the number of bytes that are stored of a line that is too long. These bytes contain the tag, which is
	// needed for the error reply.
	headOfCall = 1 << 10
	maxName    = 64
	// maxEndExtra is the size that an end message may have in addition to its result: for an error with its stack.
	maxEndExtra = 256 << 10
	// partSize is the size of the pieces in which larger results are sent. A launcher has many children and a fixed
	// memory limit, so it does not buffer a complete result.
	partSize = 32 << 10
	// tailSize is the number of bytes of an end message that are buffered until the line is complete, because they may
	// contain the exit code.
	tailSize = 32
)

// lineState records how much of an end message was already sent to the server. A large end message is sent in pieces.
type lineState int

const (
	lineHeld     lineState = iota // no part; the message is in relay.end or not complete
	lineBegun                     // the beginning; relay.line contains the last bytes
	lineComplete                  // the whole message
)

// relay forwards a program's output and messages to the server. One loop forwards both, so that their order is
// preserved: when the program calls the host, its earlier output is already in the pipes and is sent first. While the
// server does not read, the loop blocks. So a program that prints too fast blocks too.
type relay struct {
	*launcher.Child
	channel  *channel
	out      *frames.Writer
	largest  int           // size limit of a result in the end message, in bytes
	buffered *bufio.Reader // the connection to the server
	release  func()        // releases the memory that was admitted for the job
	started  bool          // the server was told that the program runs
	ready    bool          // the program waits for its start message
	keeps    bool          // the next line contains the data for Report.Kept; no user code has run yet
	kept     []byte
	ended    bool // the program sent an end message with an exit code, and is being killed

	calls int64
	end   json.RawMessage // nil if the message was sent in pieces
	code  *uint8          // exit code from the end message
	huge  bool

	streams, lines buffer       // separate buffers, because a host call in lines also reads the streams
	line           bytes.Buffer // the unfinished line on the channel, or only its last bytes
	skip           bool         // the unfinished line is too long, so drop it up to its end
	ahead          lineState
	sent           int // number of bytes of the unfinished line that were sent in pieces
}

// run forwards data until the program has sent its end message or every process is dead, and the pipes are empty. After
// an end message it does not wait for the death of the processes, because that takes the kernel as long as a short
// program runs.
func (r *relay) run() error {
	streams := []stream{{r.Stdout(), frames.Stdout, true}, {r.Stderr(), frames.Stderr, true}}
	listening := true
	for {
		// poll skips negative descriptors.
		fds := []unix.PollFd{{Fd: int32(r.Ended()), Events: unix.POLLIN}, {Fd: -1}, {Fd: -1}, {Fd: -1}}
		if listening {
			fds[1] = unix.PollFd{Fd: int32(r.channel.fd), Events: unix.POLLIN}
		}
		for i, s := range streams {
			if s.open && r.started {
				fds[2+i] = unix.PollFd{Fd: int32(s.fd), Events: unix.POLLIN}
			}
		}
		_, err := unix.Poll(fds, -1)
		if errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil {
			return fmt.Errorf("poll: %w", err)
		}
		over := fds[0].Revents != 0
		// Read the channel before the streams. The channel may contain the start report of a program that has already ended.
		// The order of output is kept anyway, because a call flushes the streams first.
		if listening && (fds[1].Revents != 0 || over) {
			for more := true; more; more = over && listening {
				var err error
				if listening, err = r.listen(); err != nil {
					return err
				}
			}
		}
		if r.ended && r.started {
			return r.flush(math.MaxInt)
		}
		for i := range streams {
			if fds[2+i].Revents == 0 && !over {
				continue
			}
			if err := r.pump(&streams[i], over); err != nil {
				return err
			}
		}
		switch {
		case over && !r.started:
			return r.early()
		case over:
			return nil
		}
	}
}

// flush forwards the program's output, up to a number of bytes.
func (r *relay) flush(most int) error {
	for _, pipe := range []stream{{r.Stdout(), frames.Stdout, true}, {r.Stderr(), frames.Stderr, true}} {
		if _, err := r.drain(pipe.fd, pipe.kind, most); err != nil {
			return err
		}
	}
	return nil
}

// untilReady waits for the program to report that it is ready for its job.
func (r *relay) untilReady() error {
	for {
		fds := []unix.PollFd{{Fd: int32(r.Ended()), Events: unix.POLLIN}, {Fd: int32(r.channel.fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil {
			return fmt.Errorf("poll: %w", err)
		}
		if fds[1].Revents != 0 {
			if _, err := r.listen(); err != nil {
				return err
			}
		}
		switch {
		case r.ready:
			return nil
		case fds[0].Revents != 0:
			return r.early()
		}
	}
}

// early returns the error for a program that ended before it was ready. The error contains the program's last output.
func (r *relay) early() error {
	words := make([]byte, 4<<10)
	n, _ := read1(r.Stderr(), words)
	return fmt.Errorf("the program ended before it was ready: %s", words[:max(n, 0)])
}

// stream is one of the program's pipes.
type stream struct {
	fd   int
	kind frames.Kind
	open bool
}

// pump forwards the data that is now in a stream. If all is true, it reads until the end of the stream.
func (r *relay) pump(s *stream, all bool) error {
	if !s.open || !r.started {
		return nil
	}
	for {
		open, err := r.drain(s.fd, s.kind, pipeSize)
		s.open = open
		if err != nil || !open || !all {
			return err
		}
	}
}

// pipeSize is the default capacity of a pipe on Linux, in bytes.
const pipeSize = 64 << 10

// drain forwards the contents of a pipe, up to most bytes. It reports whether the other end of the pipe is still open.
// While the program runs, most is little more than the capacity of a pipe. So output that was written before a message
// is sent before it, and a program that fills one pipe does not block the other pipes.
func (r *relay) drain(fd int, kind frames.Kind, most int) (open bool, err error) {
	for left := most; left > 0; {
		text, n, err := r.streams.read(fd)
		if n <= 0 || err != nil {
			return n < 0, err
		}
		if err := r.out.Write(kind, text); err != nil {
			return false, err
		}
		left -= n
	}
	return true, nil
}

// listen reads the channel and handles its lines.
func (r *relay) listen() (open bool, err error) {
	for {
		rest, n, err := r.lines.read(r.channel.fd)
		if n <= 0 || err != nil {
			return n < 0, err
		}
		for len(rest) > 0 {
			head, tail, whole := bytes.Cut(rest, []byte{'\n'})
			rest = tail
			if err := r.collect(head, whole); err != nil {
				return false, err
			}
		}
		if r.line.Len() == 0 {
			return true, nil // return early: the program may be waiting for a reply to a line in this data
		}
	}
}

// collect appends part to the unfinished line. If whole is set, the line is complete, and collect handles it.
func (r *relay) collect(part []byte, whole bool) error {
	if !r.skip {
		if err := r.extend(part, whole); err != nil {
			return err
		}
	}
	if !whole {
		return nil
	}
	line, skip, keeps := r.line.Bytes(), r.skip, r.keeps && r.started
	r.skip = false
	r.keeps = r.keeps && !keeps
	defer r.line.Reset()
	if r.ahead == lineBegun {
		r.ahead = lineComplete
		r.finish(nil, codeOf(line))
		return nil
	}
	if skip {
		r.refuse(tagOf(line), fmt.Sprintf("A line on this channel must have at most %s.", bytesize.Text(maxCall)))
		return nil
	}
	return r.take(line, keeps)
}

// extend appends part to the unfinished line. It sends a long end message in pieces, and truncates other long lines.
func (r *relay) extend(part []byte, whole bool) error {
	r.line.Write(part)
	isEnd := r.ahead == lineBegun || bytes.HasPrefix(r.line.Bytes(), []byte(`{"end"`))
	limit := maxCall
	if isEnd {
		limit = r.largest + maxEndExtra
	}
	switch {
	case r.line.Len()+r.sent > limit:
		r.skip = true
		r.huge = r.huge || isEnd
		// Store the head, because listen takes an empty buffer for a complete line.
		r.line.Truncate(min(r.line.Len(), headOfCall))
		return r.drop()
	case isEnd && r.largest > 0 && (r.ahead == lineBegun || r.line.Len() > 2*partSize):
		return r.send(whole)
	}
	return nil
}

// send sends the buffered bytes of an end message. If the message is not complete, the last tailSize bytes stay
// buffered.
func (r *relay) send(whole bool) error {
	if r.ahead != lineBegun {
		if err := r.drop(); err != nil {
			return err
		}
		r.ahead = lineBegun
	}
	text := r.line.Bytes()
	if !whole {
		text = text[:max(0, len(text)-tailSize)]
	}
	for piece := range slices.Chunk(text, partSize) {
		if err := r.out.Write(frames.Part, piece); err != nil {
			return err
		}
	}
	r.sent += len(text)
	if !whole {
		r.line.Next(len(text))
	}
	return nil
}

// drop tells the server to discard the pieces of an end message that is replaced or too long.
func (r *relay) drop() error {
	r.sent = 0
	if r.ahead == lineHeld {
		return nil
	}
	r.ahead = lineHeld
	return r.out.Write(frames.Part, nil)
}

// codeOf returns the exit code at the end of an end message. It returns nil if there is no exit code at that place.
func codeOf(line []byte) *uint8 {
	const name = `,"code":`
	at := bytes.LastIndex(line, []byte(name))
	if at < 0 {
		return nil
	}
	digits, ok := bytes.CutSuffix(line[at+len(name):], []byte("}"))
	number, err := strconv.ParseUint(string(digits), 10, 8)
	if !ok || err != nil {
		return nil
	}
	code := uint8(number)
	return &code
}

// finish stores an end message. If it has an exit code, finish kills the program, which is faster than a normal exit.
func (r *relay) finish(end json.RawMessage, code *uint8) {
	r.end, r.code, r.sent = end, code, 0
	if code != nil {
		r.ended = true
		r.Kill()
	}
}

// take handles one complete line of the program. If keeps is true, the line contains the data for Report.Kept.
func (r *relay) take(line []byte, keeps bool) error {
	var m Message
	switch err := json.Unmarshal(line, &m); {
	case err != nil:
		r.refuse(tagOf(line), "A line on this channel must be a JSON object with call and args.")
		return nil
	case m.Ready:
		r.ready = true
		return nil
	case keeps && m.Kept != nil:
		r.kept = m.Kept
		return nil
	case m.Start && !r.started:
		r.started = true
		return r.out.Write(frames.Started, nil)
	case m.End != nil:
		r.finish(m.End, m.Code)
		return r.drop()
	case m.Call == "" || len(m.Call) > maxName:
		r.refuse(m.Tag, fmt.Sprintf("The name of a host function must have 1 to %d bytes.", maxName))
		return nil
	}
	if err := r.flush(pipeSize); err != nil {
		return err
	}
	if m.Args == nil {
		m.Args = json.RawMessage("{}")
	}
	r.calls++
	return r.out.WriteJSON(frames.CallReq, frames.Call{ID: r.calls, Name: m.Call, Args: m.Args, Tag: m.Tag})
}

// tagOf returns the tag at the start of a call whose line is invalid or too long. With the tag, the error reply reaches
// the caller. It returns 0 if there is no tag.
func tagOf(line []byte) int64 {
	in := json.NewDecoder(bytes.NewReader(line))
	if start, err := in.Token(); err != nil || start != json.Delim('{') {
		return 0
	}
	for in.More() {
		var value json.RawMessage
		name, err := in.Token()
		if err = errors.Join(err, in.Decode(&value)); err != nil {
			return 0
		}
		if name == "tag" {
			tag, _ := strconv.ParseInt(string(value), 10, 64)
			return tag
		}
	}
	return 0
}

// refuse replies to a line with an error. The line is not sent to the server.
func (r *relay) refuse(tag int64, message string) {
	answer, _ := json.Marshal(frames.Answer{Error: refusal(message), Tag: tag})
	r.channel.line(answer)
}

// Initial and maximum size of a buffer. The initial size is small, because most programs print little. Allocating 32 kB
// for each buffer took 5% of a launcher's CPU time.
const (
	firstBuffer   = 2 << 10
	largestBuffer = 32 << 10
)

// buffer is a read buffer that doubles in size when a read fills it.
type buffer []byte

// read reads once, like read1. The returned text is valid until the next read.
func (b *buffer) read(fd int) (text []byte, n int, err error) {
	if len(*b) == 0 {
		*b = make(buffer, firstBuffer)
	}
	n, err = read1(fd, *b)
	text = (*b)[:max(n, 0)]
	if n == len(*b) && n < largestBuffer {
		*b = make(buffer, 2*n)
	}
	return text, n, err
}

// read1 reads once. It returns n > 0 bytes, 0 at the end, or -1 if no data is available now.
func read1(fd int, buf []byte) (int, error) {
	for {
		n, err := unix.Read(fd, buf)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			return -1, nil
		case errors.Is(err, unix.ECONNRESET): // the program closed its end before it had read all replies
			return 0, nil
		case err != nil:
			return 0, err
		default:
			return n, nil
		}
	}
}

// channel is the launcher's end of the program's descriptor 3.
type channel struct {
	fd int
	mu sync.Mutex // protects writes, because two goroutines write: one replies, one refuses
}

// line writes one line. While the program does not read its reply, line blocks, at most until the program is killed. It
// ignores errors, because they mean that the program is dead.
func (c *channel) line(text []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text = append(slices.Clip(text), '\n')
	for len(text) > 0 {
		n, err := unix.SendmsgN(c.fd, text, nil, nil, syscall.MSG_NOSIGNAL)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(c.fd), Events: unix.POLLOUT}}, -1)
		case err != nil:
			return
		default:
			text = text[n:]
		}
	}
}

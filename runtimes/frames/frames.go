// Package frames implements the protocol between the server and a jailed worker: length-prefixed frames over one
// socket. The server does not trust data from a worker. So the reader checks the kind and the length of a frame before
// it stores any of its bytes. The package does not depend on languages, jails or processes.
package frames

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/atelier-run/atelier/runtimes"
)

// Kind is the first byte of a frame.
type Kind byte

// Kinds that a worker sends.
const (
	// JSON: the jail is set up and the worker waits for a job; the sandbox and the role define the fields.
	Ready Kind = 'r'
	Need  Kind = 'n' // empty: the worker does not have the program of the job, so the server must send the complete job
	// The program has started, and its time limit begins; the payload is empty, or the microseconds since the start.
	Started Kind = 's'
	Stdout  Kind = 'o' // raw bytes of stdout
	Stderr  Kind = 'e' // raw bytes of stderr
	CallReq Kind = 'c' // JSON Call; the worker may send more frames before it receives the Reply
	Part    Kind = 'x' // raw bytes: a piece of a result that is too large for one frame; an empty Part discards all pieces so far
	Done    Kind = 'd' // JSON Result; the last frame of a job
)

// Kinds that the server sends.
const (
	Setup     Kind = 'p' // JSON: the jail's configuration, sent before Ready
	Job       Kind = 'j' // JSON, in a form that the engine defines
	Reply     Kind = 'a' // JSON Answer
	Interrupt Kind = 'i' // JSON Reason: the worker must end the program; if the worker does not, the server kills it
)

// Call is a host call. The IDs of a job's calls count up from 1.
type Call struct {
	ID   int64           `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
	Tag  int64           `json:"tag,omitempty"` // number that the worker chose; the Answer repeats it
}

// Answer is the reply to the call with the same ID and tag. Either Result or Error is set.
type Answer struct {
	ID     int64               `json:"id"`
	Result json.RawMessage     `json:"result,omitempty"`
	Error  *runtimes.CallError `json:"error,omitempty"`
	Tag    int64               `json:"tag,omitempty"`
}

// Reason is the reason for an interrupt of a program.
type Reason struct {
	Type runtimes.ErrorType `json:"type"` // timeout or cancelled
}

// Result is the end of a job as reported by the worker. The server does not trust it, because the program may have
// written it.
type Result struct {
	Output   json.RawMessage        `json:"output,omitempty"`
	Error    *runtimes.ProgramError `json:"error,omitempty"`
	ExitCode *int                   `json:"exitCode,omitempty"`
	Signal   int                    `json:"signal,omitempty"` // signal that ended the main process; 0 if none did
	DiskFull bool                   `json:"diskFull,omitempty"`
	Stats    json.RawMessage        `json:"stats,omitempty"` // data for the engine, in a form that the engine defines

	Parts []byte `json:"-"` // content of all Part frames of the job; set by the server
}

// MaxFrame is the maximum payload of any frame, in bytes. The largest result has 16 MiB plus the JSON around it. The
// largest job contains an input and a module of 32 MiB; the module needs 43 MiB in base64.
const MaxFrame = 64 << 20

const headerSize = 5

// largestKept is the maximum size of the buffer that a connection keeps between two frames, in bytes.
const largestKept = 1 << 20

// ErrTooLarge means that a peer announced a frame that is larger than allowed. The connection can no longer be used.
var ErrTooLarge = errors.New("frame is larger than allowed")

// ErrKind means that a peer sent a frame of a kind that is not allowed. The connection can no longer be used.
var ErrKind = errors.New("frame has an unknown kind")

// Reader reads frames of a fixed set of kinds. It is not safe for concurrent use.
type Reader struct {
	r      io.Reader
	limits map[Kind]int
	header [headerSize]byte
	buf    []byte
}

// NewReader returns a reader that accepts only the kinds in limits, each up to its number of payload bytes.
func NewReader(r io.Reader, limits map[Kind]int) *Reader {
	return &Reader{r: r, limits: limits}
}

// Read returns the next frame. The payload is valid until the next call of Read. If the connection ends, the error is
// io.EOF between two frames and io.ErrUnexpectedEOF within a frame. If the frame is not allowed, the error is ErrKind
// or ErrTooLarge.
func (r *Reader) Read() (Kind, []byte, error) {
	if cap(r.buf) > largestKept {
		r.buf = nil // releases the memory of a large frame
	}
	if _, err := io.ReadFull(r.r, r.header[:]); err != nil {
		return 0, nil, err
	}
	kind, size := Kind(r.header[0]), binary.LittleEndian.Uint32(r.header[1:])
	limit, known := r.limits[kind]
	if !known {
		return 0, nil, fmt.Errorf("%w: %q", ErrKind, byte(kind))
	}
	if int64(size) > int64(limit) {
		// The message omits size, because the peer chose it.
		return 0, nil, fmt.Errorf("%w: %q has at most %d bytes", ErrTooLarge, byte(kind), limit)
	}
	if err := r.fill(int(size)); err != nil {
		return 0, nil, err
	}
	return kind, r.buf[:size], nil
}

// NextSize returns the payload size of the next frame without reading the frame. It does not check the size.
func NextSize(in *bufio.Reader) (int64, error) {
	header, err := in.Peek(headerSize)
	if err != nil {
		return 0, err
	}
	return int64(binary.LittleEndian.Uint32(header[1:])), nil
}

// fill reads size bytes into buf. It grows buf only as bytes arrive. So a peer cannot make the server allocate memory
// by announcing a large frame.
func (r *Reader) fill(size int) error {
	const step = 64 << 10
	for done := 0; done < size; {
		next := min(size, max(done+step, 2*done))
		if cap(r.buf) < next {
			grown := make([]byte, next)
			copy(grown, r.buf[:done])
			r.buf = grown
		}
		r.buf = r.buf[:next]
		n, err := io.ReadFull(r.r, r.buf[done:next])
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		done += n
	}
	return nil
}

// Writer writes frames, each in one Write call. It is safe for concurrent use.
type Writer struct {
	w io.Writer

	mu   sync.Mutex
	buf  *bytes.Buffer // content of the next Write; empty between calls
	json *json.Encoder // JSON encoder that writes to buf
	held Kind          // kind of a frame that waits until the next frame is sent; 0 for none
	text func() []byte // returns the payload of the held frame
}

// NewWriter returns a writer of frames.
func NewWriter(w io.Writer) *Writer {
	made := &Writer{w: w}
	made.renew()
	return made
}

func (w *Writer) renew() {
	w.buf = new(bytes.Buffer)
	w.json = json.NewEncoder(w.buf)
	w.json.SetEscapeHTML(false)
}

// Write sends one frame. If there is a held frame, Write sends the held frame first.
func (w *Writer) Write(kind Kind, payload []byte) error {
	return w.write(kind, func() error {
		_, err := w.buf.Write(payload)
		return err
	})
}

// WriteJSON sends one frame whose payload is v as JSON. Unlike json.Marshal, it does not escape <, > and & in raw
// messages, because some programs read the JSON text without decoding it.
func (w *Writer) WriteJSON(kind Kind, v any) error {
	return w.write(kind, func() error {
		if err := w.json.Encode(v); err != nil {
			return fmt.Errorf("encode frame %q: %w", byte(kind), err)
		}
		if tailed, ok := v.(Tailed); ok && tailed.Tail() != nil {
			w.buf.Write(tailed.Tail())
			return nil
		}
		w.buf.Truncate(w.buf.Len() - len("\n"))
		return nil
	})
}

// Tailed is a payload with a second part that is not in the JSON. WriteJSON sends this part after a newline. It saves
// time for texts of megabytes: a text inside of JSON is scanned by each process that encodes or decodes it.
type Tailed interface{ Tail() []byte }

// SplitTail returns the JSON and the tail of a payload. The tail is nil if there is none.
func SplitTail(payload []byte) (document, tail []byte) {
	document, tail, found := bytes.Cut(payload, []byte("\n"))
	if !found {
		return payload, nil
	}
	return document, tail
}

// Hold delays a frame until the next write or Flush. This saves time, because each separate write wakes the reader. The
// writer calls payload when it sends the frame.
func (w *Writer) Hold(kind Kind, payload func() []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held, w.text = kind, payload
}

// Flush sends the held frame, if any.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held == 0 {
		return nil
	}
	if err := w.release(); err != nil {
		return err
	}
	return w.send()
}

// write assembles frames in the buffer and sends them in one Write call. If a frame cannot be encoded, write sends
// nothing, and the held frame stays held.
func (w *Writer) write(kind Kind, payload func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	held, text := w.held, w.text
	err := w.release()
	if err == nil {
		err = w.frame(kind, payload)
	}
	if err != nil {
		w.clear()
		w.held, w.text = held, text
		return err
	}
	return w.send()
}

// release moves the held frame into the buffer.
func (w *Writer) release() error {
	if w.held == 0 {
		return nil
	}
	kind, text := w.held, w.text
	w.held, w.text = 0, nil
	return w.frame(kind, func() error {
		_, err := w.buf.Write(text())
		return err
	})
}

// frame adds a frame to the buffer.
func (w *Writer) frame(kind Kind, payload func() error) error {
	start := w.buf.Len()
	w.buf.Write(make([]byte, headerSize))
	if err := payload(); err != nil {
		return err
	}
	size := w.buf.Len() - start - headerSize
	if size > MaxFrame {
		return fmt.Errorf("%w: %q of %d bytes, at most %d", ErrTooLarge, byte(kind), size, MaxFrame)
	}
	header := w.buf.Bytes()[start:]
	header[0] = byte(kind)
	binary.LittleEndian.PutUint32(header[1:], uint32(size))
	return nil
}

func (w *Writer) send() error {
	_, err := w.w.Write(w.buf.Bytes())
	w.clear()
	return err
}

func (w *Writer) clear() {
	w.buf.Reset()
	if w.buf.Cap() > largestKept {
		w.renew() // releases the memory of a large frame
	}
}

// Package frames is the language between the server and a jailed worker: length-prefixed frames over one socket. What
// arrives from a worker is hostile input, so every frame has a known kind and a bounded length before a byte of it is
// kept. The package knows nothing of languages, jails or processes.
package frames

import (
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
	Ready   Kind = 'r' // JSON, the jail is set up and a job may come; what it holds is the sandbox's and the role's business
	Need    Kind = 'n' // empty: the job names a program that the worker does not have; the server sends it whole
	Started Kind = 's' // the program has started, the time limit counts from here; empty, or how many microseconds ago it did
	Stdout  Kind = 'o' // raw bytes
	Stderr  Kind = 'e' // raw bytes
	CallReq Kind = 'c' // JSON Call; the worker may say more before the Reply comes
	Done    Kind = 'd' // JSON Result; the last frame of a job
)

// Kinds that the server sends.
const (
	Setup     Kind = 'p' // JSON, the jail's configuration, before Ready
	Job       Kind = 'j' // JSON, engine-specific
	Reply     Kind = 'a' // JSON Answer
	Interrupt Kind = 'i' // JSON Reason: end the program softly; a kill follows if that does not help
)

// Call is a host call. IDs count up from 1 in a job.
type Call struct {
	ID   int64           `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
	Tag  int64           `json:"tag,omitempty"` // a program's own number
}

// Answer is the reply to the call with the same ID and tag: exactly one of Result and Error is set.
type Answer struct {
	ID     int64               `json:"id"`
	Result json.RawMessage     `json:"result,omitempty"`
	Error  *runtimes.CallError `json:"error,omitempty"`
	Tag    int64               `json:"tag,omitempty"`
}

// Reason says why a program is interrupted.
type Reason struct {
	Type runtimes.ErrorType `json:"type"` // timeout or cancelled
}

// Result is how a job ended as the worker sees it. The server trusts none of it: it only says what the program said.
type Result struct {
	Output   json.RawMessage        `json:"output,omitempty"`
	Error    *runtimes.ProgramError `json:"error,omitempty"`
	ExitCode *int                   `json:"exitCode,omitempty"`
	Signal   int                    `json:"signal,omitempty"` // that ended the main process, 0 for none
	DiskFull bool                   `json:"diskFull,omitempty"`
	Stats    json.RawMessage        `json:"stats,omitempty"` // the engine's own notes
}

// MaxFrame bounds any frame of either direction: the largest allowed result (16 MiB) with its wrapping, and jobs with their
// files, of which a module of 32 MiB takes 43 MiB in base64, and their input.
const MaxFrame = 64 << 20

const headerSize = 5

// ErrTooLarge says that a peer announced a frame above its limit. The connection is of no more use.
var ErrTooLarge = errors.New("frame is larger than allowed")

// ErrKind says that a peer sent a frame of a kind that may not come here. The connection is of no more use.
var ErrKind = errors.New("frame has an unknown kind")

// Reader reads frames of a fixed set of kinds. It is not safe for concurrent use.
type Reader struct {
	r      io.Reader
	limits map[Kind]int
	header [headerSize]byte
	buf    []byte
}

// NewReader returns a reader that takes only the kinds in limits, each up to its number of payload bytes.
func NewReader(r io.Reader, limits map[Kind]int) *Reader {
	return &Reader{r: r, limits: limits}
}

// Read returns the next frame. The payload is valid until the next Read. It answers io.EOF at a clean end,
// io.ErrUnexpectedEOF within a frame, ErrKind or ErrTooLarge for a peer that breaks the rules.
func (r *Reader) Read() (Kind, []byte, error) {
	if _, err := io.ReadFull(r.r, r.header[:]); err != nil {
		return 0, nil, err
	}
	kind, size := Kind(r.header[0]), binary.LittleEndian.Uint32(r.header[1:])
	limit, known := r.limits[kind]
	if !known {
		return 0, nil, fmt.Errorf("%w: %q", ErrKind, byte(kind))
	}
	if int64(size) > int64(limit) {
		return 0, nil, fmt.Errorf("%w: %q has at most %d bytes", ErrTooLarge, byte(kind), limit) // the number is the peer's word
	}
	if err := r.fill(int(size)); err != nil {
		return 0, nil, err
	}
	return kind, r.buf[:size], nil
}

// fill reads size bytes into buf, growing it as bytes really arrive, so that an announced length alone costs nothing.
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
	buf  *bytes.Buffer // empty between calls
	json *json.Encoder // into buf
	held Kind          // of a frame that goes with the next one, 0 for none
	text func() []byte // its payload
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

// Write sends one frame, after the one that is held.
func (w *Writer) Write(kind Kind, payload []byte) error {
	return w.write(kind, func() error {
		_, err := w.buf.Write(payload)
		return err
	})
}

// WriteJSON sends v as the payload of one frame. Unlike json.Marshal it leaves <, > and & in raw messages as they are:
// a program may read the text itself.
func (w *Writer) WriteJSON(kind Kind, v any) error {
	return w.write(kind, func() error {
		if err := w.json.Encode(v); err != nil {
			return fmt.Errorf("encode frame %q: %w", byte(kind), err)
		}
		w.buf.Truncate(w.buf.Len() - len("\n"))
		return nil
	})
}

// Hold keeps a frame back until the next one is written, or Flush is called: each write wakes the reader. What it says is
// asked for when it goes.
func (w *Writer) Hold(kind Kind, payload func() []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held, w.text = kind, payload
}

// Flush sends the frame that is held, if any.
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

// write puts frames together in the buffer and sends them. A frame that cannot be made leaves nothing behind, but the
// held one waits on.
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

// release puts the held frame into the buffer.
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
	if w.buf.Cap() > 1<<20 {
		w.renew() // one large job must not stay with the connection
	}
}

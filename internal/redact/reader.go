package redact

import "io"

// piece is the number of bytes that are read at once.
const piece = 32 << 10

// Reader returns the data of another reader and replaces each byte of a value by a star. The length of the data does
// not change, so a Content-Length stays valid.
func (m *Redactor) Reader(from io.Reader) io.Reader {
	return &reader{from: from, stream: Stream{redactor: m, even: true}, buffer: make([]byte, piece)}
}

type reader struct {
	from   io.Reader
	stream Stream
	buffer []byte
	ready  string
	err    error
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	for r.ready == "" && r.err == nil {
		var n int
		n, r.err = r.from.Read(r.buffer)
		r.ready = r.stream.Write(string(r.buffer[:n]))
		if r.err != nil {
			r.ready += r.stream.End()
		}
	}
	if r.ready == "" {
		return 0, r.err
	}
	n := copy(p, r.ready)
	r.ready = r.ready[n:]
	return n, nil
}

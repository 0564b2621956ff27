// Package tarball has the checks that every reader of an untrusted tar archive needs: a size limit that fails with an
// error, a check that no data follows the archive, and a check for sparse files.
package tarball

import (
	"archive/tar"
	"errors"
	"io"
	"strings"
)

// Bounded is a reader that returns an error if the stream is too long. io.LimitReader would return io.EOF instead, as
// at the end of the stream.
type Bounded struct {
	Reader  io.Reader
	Left    int64 // remaining bytes
	TooLong error
}

// Read implements io.Reader.
func (b *Bounded) Read(p []byte) (int, error) {
	if b.Left <= 0 {
		var one [1]byte
		if n, err := b.Reader.Read(one[:]); n == 0 && err != nil {
			return 0, err
		}
		return 0, b.TooLong
	}
	n, err := b.Reader.Read(p[:min(int64(len(p)), b.Left)])
	b.Left -= int64(n)
	return n, err
}

// OnlyPadding reads a stream to its end and reports whether it contains only zeros. Another program might read other
// bytes there as further content.
func OnlyPadding(rest io.Reader) (bool, error) {
	block := make([]byte, 4096)
	for {
		n, err := rest.Read(block)
		for _, b := range block[:n] {
			if b != 0 {
				return false, nil
			}
		}
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// Sparse reports whether a file is sparse: its size counts holes, which have no data in the archive.
func Sparse(header *tar.Header) bool {
	for key := range header.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

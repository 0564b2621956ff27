// Package tarball is what every reader of a stranger's tar archive needs, whatever is in it: a stream that ends with an error
// where it is too long, and the certainty that nothing follows.
package tarball

import (
	"archive/tar"
	"errors"
	"io"
	"strings"
)

// Bounded ends a stream that is too long with an error, where a limit without one would look like its end.
type Bounded struct {
	Reader  io.Reader
	Left    int64 // bytes that may still come
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

// OnlyPadding reads a stream to its end and says whether there was nothing but zeros: what one reader skips another may read.
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

// Sparse says whether a file claims bytes that are not there.
func Sparse(header *tar.Header) bool {
	for key := range header.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

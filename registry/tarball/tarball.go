// Package tarball contains the checks that every reader of an untrusted tar archive needs: a size limit that fails with
// an error, a check that no data follows the archive, and a check for sparse files.
package tarball

import (
	"archive/tar"
	"errors"
	"io"
	"strings"
)

// Bounded is a reader that returns an error if the stream is longer than a limit. io.LimitReader would return io.EOF
// instead, and the caller could not detect the missing data.
type Bounded struct {
	Reader  io.Reader
	Left    int64 // number of bytes that may still be read
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

// OnlyPadding reads a stream to its end and reports whether it contains only zeros. Another program might treat other
// bytes as further content of the archive.
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

// Sparse reports whether a file is sparse. The size of a sparse file includes holes, for which the archive contains no
// data.
func Sparse(header *tar.Header) bool {
	for key := range header.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

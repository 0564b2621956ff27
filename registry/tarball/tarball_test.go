package tarball_test

import (
	"archive/tar"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/atelier-run/atelier/registry/tarball"
)

func TestBounded(t *testing.T) {
	t.Parallel()
	tooLong := errors.New("too long")
	for text, want := range map[string]error{"": nil, "abc": nil, "abcd": nil, "abcde": tooLong} {
		got, err := io.ReadAll(&tarball.Bounded{Reader: iotest.OneByteReader(strings.NewReader(text)), Left: 4, TooLong: tooLong})
		if !errors.Is(err, want) || string(got) != text[:min(len(text), 4)] {
			t.Errorf("%q is read as %q, %v", text, got, err)
		}
	}
}

func TestOnlyPadding(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": true, strings.Repeat("\x00", 10_000): true, strings.Repeat("\x00", 9_999) + "x": false} {
		if got, err := tarball.OnlyPadding(iotest.DataErrReader(strings.NewReader(text))); got != want || err != nil {
			t.Errorf("%d bytes: %v, %v", len(text), got, err)
		}
	}
	broken := errors.New("broken")
	if _, err := tarball.OnlyPadding(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestSparse(t *testing.T) {
	t.Parallel()
	if !tarball.Sparse(&tar.Header{PAXRecords: map[string]string{"GNU.sparse.major": "1"}}) || tarball.Sparse(&tar.Header{PAXRecords: map[string]string{"path": "a"}}) {
		t.Error("sparse files are not distinguished from other files")
	}
}

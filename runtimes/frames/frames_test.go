package frames_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes/frames"
)

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	var wire bytes.Buffer
	w := frames.NewWriter(&wire)
	large := strings.Repeat("x", 300<<10)
	for _, s := range []string{"", "a", large, "b"} {
		if err := w.Write(frames.Stdout, []byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	r := frames.NewReader(&wire, map[frames.Kind]int{frames.Stdout: 1 << 20})
	for _, want := range []string{"", "a", large, "b"} {
		kind, got, err := r.Read()
		if err != nil || kind != frames.Stdout || string(got) != want {
			t.Fatalf("Read() = %q, %d bytes, %v; want %d bytes", kind, len(got), err, len(want))
		}
	}
	if _, _, err := r.Read(); err != io.EOF {
		t.Fatalf("at the end: %v, want io.EOF", err)
	}
}

// TestHeldFrame checks that a held frame is sent once: with the next frame in the same write, or by Flush.
func TestHeldFrame(t *testing.T) {
	t.Parallel()
	var wire writes
	w := frames.NewWriter(&wire)
	age := "1"
	started := func() []byte { return []byte(age) }
	w.Hold(frames.Started, started)
	age = "2"
	if err := w.WriteJSON(frames.Done, func() {}); err == nil {
		t.Error("a function is written as JSON")
	}
	if err := w.WriteJSON(frames.Done, "<x>"); err != nil {
		t.Error(err)
	}
	w.Hold(frames.Started, started)
	for range 2 {
		if err := w.Flush(); err != nil {
			t.Error(err)
		}
	}
	if err := w.Write(frames.Stdout, []byte("o")); err != nil {
		t.Error(err)
	}
	want := []string{"s\x01\x00\x00\x002d\x05\x00\x00\x00\"<x>\"", "s\x01\x00\x00\x002", "o\x01\x00\x00\x00o"}
	if !slices.Equal(wire, want) {
		t.Errorf("%q, want %q", wire, want)
	}
	if err := w.Write(frames.Stdout, make([]byte, frames.MaxFrame+1)); !errors.Is(err, frames.ErrTooLarge) {
		t.Errorf("too large a frame: %v", err)
	}
}

// writes records the data of each Write call.
type writes []string

func (w *writes) Write(p []byte) (int, error) {
	*w = append(*w, string(p))
	return len(p), nil
}

func TestHostilePeer(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		wire string
		want error
	}{
		"unknown kind":            {"z\x00\x00\x00\x00", frames.ErrKind},
		"server kind from worker": {"j\x00\x00\x00\x00", frames.ErrKind},
		"4 GiB announced":         {"o\xff\xff\xff\xff", frames.ErrTooLarge},
		"cut within the header":   {"o\x01", io.ErrUnexpectedEOF},
		"cut within the payload":  {"o\x04\x00\x00\x00ab", io.ErrUnexpectedEOF},
		"cut before the payload":  {"o\x04\x00\x00\x00", io.ErrUnexpectedEOF},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := frames.NewReader(strings.NewReader(tt.wire), map[frames.Kind]int{frames.Stdout: 64})
			if _, _, err := r.Read(); !errors.Is(err, tt.want) {
				t.Fatalf("Read() error = %v, want %v", err, tt.want)
			}
		})
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("o\x03\x00\x00\x00abc"))
	f.Add([]byte("d\x02\x00\x00\x00{}s\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		r := frames.NewReader(bytes.NewReader(wire), map[frames.Kind]int{frames.Stdout: 16, frames.Done: 8, frames.Started: 0})
		read := 0
		for {
			_, payload, err := r.Read()
			if err != nil {
				return
			}
			if read += 5 + len(payload); read > len(wire) {
				t.Fatalf("%d bytes read out of %d", read, len(wire))
			}
		}
	})
}

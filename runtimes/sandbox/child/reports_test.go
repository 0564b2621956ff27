package child

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestReports checks the errors made from a child's failure report, and that Fill refuses a missing descriptor.
func TestReports(t *testing.T) {
	t.Parallel()
	for at, want := range map[uint64]string{0: "mount: ", 1: "execute the program: "} {
		err := failedAt([]Step{{name: "mount"}}, failure{at: at * uint64(callSize), value: -int64(unix.EPERM)})
		if !errors.Is(err, syscall.EPERM) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%d: %v", at, err)
		}
	}
	if err := failedAt(nil, failure{}); err == nil || !strings.Contains(err.Error(), "end of file") {
		t.Error(err)
	}
	made := NewPlan([]Step{do("x", 1, descriptor("nowhere"))}, &Heap{})
	if _, err := made.Fill(1000, nil); err == nil {
		t.Error("Fill accepted a missing descriptor")
	}
}

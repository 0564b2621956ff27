package tasks

import (
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
)

func TestPasses(t *testing.T) {
	t.Parallel()
	for code, want := range map[fault.Code]bool{
		fault.QueueFull: true, fault.QuotaExceeded: true, fault.TooManyRequests: true, fault.StorageUnavailable: true, fault.SandboxUnavailable: true,
		fault.InvalidInput: false, fault.NotFound: false, fault.StorageFull: false,
	} {
		if got := passes(code); got != want {
			t.Errorf("%s: %v, want %v", code, got, want)
		}
	}
}

package worker_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that no session and no pool leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

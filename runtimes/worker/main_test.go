package worker_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that no goroutine of a session or pool is left after the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

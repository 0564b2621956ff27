package servertest_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/atelier-run/atelier/server/servertest"
)

// TestMain checks that a stopped server leaves no goroutine behind.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		servertest.RemoveBinary()
		os.Exit(code)
	}))
}

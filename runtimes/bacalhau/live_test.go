//go:build live

// Tests against a real Bacalhau node. make test does not run them, because building a node takes 1369 packages. Run:
// BACALHAU_API_HOST=127.0.0.1 go test -tags live ./runtimes/bacalhau
package bacalhau_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/bacalhau"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

// TestLive runs modules at the orchestrator that BACALHAU_API_HOST names. It needs a node without containers.
func TestLive(t *testing.T) {
	t.Parallel()
	host := os.Getenv("BACALHAU_API_HOST")
	if host == "" {
		t.Fatal("BACALHAU_API_HOST must be set for tests with the tag live")
	}
	engine := bacalhau.New(bacalhau.Options{
		Host: host, Port: os.Getenv("BACALHAU_API_PORT"), Key: os.Getenv("BACALHAU_API_KEY"), Owner: "atelier-test", Queued: 20 * time.Second,
	})
	t.Cleanup(engine.Close)
	outcome, _ := runtimetest.Run(t, engine, moduleJob(module(`{"answer":42}`)))
	if outcome.Error != nil || string(outcome.Output) != `{"answer":42}` {
		t.Errorf("%+v %s", outcome.Error, outcome.Output)
	}
	loop := moduleJob(module("started", 0x03, 0x40, 0x0c, 0, 0x0b))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if outcome, err := engine.Run(ctx, loop, runtimetest.NewHost()); err != nil || outcome.Error == nil || outcome.Error.Type != runtimes.Cancelled {
		t.Errorf("%+v, %v", outcome.Error, err)
	}
	for _, one := range endings() {
		one.ends(t, engine)
	}
	if err := engine.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := engine.Run(t.Context(), programs().Job(programs().Hello), runtimetest.NewHost()); !fault.Is(err, fault.RuntimeUnavailable) {
		t.Errorf("a container on a node without containers: %v", err)
	} else {
		t.Log(err)
	}
}

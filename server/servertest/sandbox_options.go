package servertest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/atelier-run/atelier/runtimes/doctor"
	"github.com/atelier-run/atelier/server/app"
)

// stood caches the self-test reports of this test process. Without the cache, about a hundred servers with the same
// sandbox and interpreters would each repeat the self-test.
var stood sync.Map // maps sandboxOptions to a doctor.Report

// sandboxOptions holds the settings on which the result of a self-test depends.
type sandboxOptions struct{ exe, python, bash, node, lacks string }

func sandboxOptionsOf(o app.Options) sandboxOptions {
	c := o.Config
	return sandboxOptions{o.Exe, c.Python, c.Bash, c.Node, strings.Join(slices.Concat(c.AllowWeak, []string{"/"}, c.Masked), " ")}
}

// examined returns the cached self-test report for the sandbox of a server. If no self-test of this sandbox has passed
// yet, it returns nil.
func examined(o app.Options) *doctor.Report {
	if found, ok := stood.Load(sandboxOptionsOf(o)); ok {
		report := found.(doctor.Report)
		return &report
	}
	return nil
}

// keep caches the self-test report of a server that was closed, if the self-test passed.
func keep(t testing.TB, a *app.App) {
	t.Helper()
	report, err := a.Found(context.WithoutCancel(t.Context()))
	if err == nil && report.Failed == 0 && len(report.Checks) > 0 {
		stood.LoadOrStore(sandboxOptionsOf(a.Options), report)
	}
}

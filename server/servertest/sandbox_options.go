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

// stood caches the self-test reports of this test process. Otherwise each of a hundred servers with the same sandbox and
// interpreters would repeat the self-test in parallel to its test.
var stood sync.Map // sandboxOptions → doctor.Report

// sandboxOptions holds the settings that a self-test depends on.
type sandboxOptions struct{ exe, python, bash, node, lacks string }

func sandboxOptionsOf(o app.Options) sandboxOptions {
	c := o.Config
	return sandboxOptions{o.Exe, c.Python, c.Bash, c.Node, strings.Join(slices.Concat(c.AllowWeak, []string{"/"}, c.Masked), " ")}
}

// examined returns the cached report for the sandbox of a server, or nil if its self-test is the first.
func examined(o app.Options) *doctor.Report {
	if found, ok := stood.Load(sandboxOptionsOf(o)); ok {
		report := found.(doctor.Report)
		return &report
	}
	return nil
}

// keep caches the report of a closed server whose self-test passed.
func keep(t testing.TB, a *app.App) {
	t.Helper()
	report, err := a.Found(context.WithoutCancel(t.Context()))
	if err == nil && report.Failed == 0 && len(report.Checks) > 0 {
		stood.LoadOrStore(sandboxOptionsOf(a.Options), report)
	}
}

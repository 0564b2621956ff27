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

// stood remembers what the self-tests of this test process found. Of a hundred servers with the same walls around the same
// interpreters each would examine them anew, beside the test that it was started for.
var stood sync.Map // sandboxOptions → doctor.Report

// sandboxOptions are what an examination depends on.
type sandboxOptions struct{ exe, python, bash, node, lacks string }

func sandboxOptionsOf(o app.Options) sandboxOptions {
	c := o.Config
	return sandboxOptions{o.Exe, c.Python, c.Bash, c.Node, strings.Join(slices.Concat(c.AllowWeak, []string{"/"}, c.Masked), " ")}
}

// examined is what was found of the walls that a server will have, nil when its own examination is the first.
func examined(o app.Options) *doctor.Report {
	if found, ok := stood.Load(sandboxOptionsOf(o)); ok {
		report := found.(doctor.Report)
		return &report
	}
	return nil
}

// keep takes the word of an examination that ended well, from a server that was closed.
func keep(t testing.TB, a *app.App) {
	t.Helper()
	report, err := a.Found(context.WithoutCancel(t.Context()))
	if err == nil && report.Failed == 0 && len(report.Checks) > 0 {
		stood.LoadOrStore(sandboxOptionsOf(a.Options), report)
	}
}

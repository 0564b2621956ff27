package app

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/doctor"
	"github.com/atelier-run/atelier/runtimes/sandbox"
)

func reportOf(checks ...doctor.Check) doctor.Report {
	return doctor.Report{Level: sandbox.LevelFull, Checks: checks}
}

var (
	wall    = doctor.Check{Group: doctor.Inside, Name: "privileges", Language: runtimes.Python, Verdict: doctor.Fail, Evidence: "Seccomp is 0."}
	working = doctor.Check{Group: doctor.Controls, Name: "an ordinary program", Language: runtimes.JavaScript, Verdict: doctor.Fail, Evidence: "It is broken."}
	holds   = doctor.Check{Group: doctor.Inside, Name: "privileges", Language: runtimes.Python, Verdict: doctor.Pass}
)

// TestRunsWaitForTheSelfTest checks that runs wait for the self-test and start when it passes.
func TestRunsWaitForTheSelfTest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newSelfTest(func(context.Context) doctor.Report {
			time.Sleep(200 * time.Millisecond)
			return reportOf(holds)
		}, slog.New(slog.DiscardHandler))
		defer func() { _ = p.close() }()
		if err := p.wait(t.Context(), runtimes.Bash); err != nil {
			t.Errorf("nobody wanted a proof: %v", err)
		}
		p.begin()
		began := time.Now()
		if err := p.wait(t.Context(), runtimes.Bash); err != nil || time.Since(began) != 200*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if level := p.level(sandbox.Level{Level: sandbox.LevelFull}); level.Level != sandbox.LevelFull {
			t.Errorf("%+v", level)
		}
	})
}

// TestNobodyIsTheDoctor checks that no run can use the workspace of the self-test, because runs in that workspace may
// reach all hosts.
func TestNobodyIsTheDoctor(t *testing.T) {
	t.Parallel()
	p := newSelfTest(func(context.Context) doctor.Report { return reportOf() }, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { _ = p.close() })
	if _, err := (proved{nil, p}).Run(t.Context(), runtimes.Job{Workspace: doctor.Workspace, Language: runtimes.Bash}, nil); !fault.Is(err, fault.Forbidden) {
		t.Errorf("%v", err)
	}
}

func TestFailedSelfTestStopsRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked, next := 0, wall
		p := newSelfTest(func(context.Context) doctor.Report { asked++; return reportOf(next) }, slog.New(slog.DiscardHandler))
		defer func() { _ = p.close() }()
		p.begin()
		for range 2 {
			if err := p.wait(t.Context(), runtimes.JavaScript); fault.CodeOf(err) != fault.SandboxUnavailable || !strings.Contains(err.Error(), "Seccomp is 0") {
				t.Errorf("got %v", err)
			}
		}
		if level := p.level(sandbox.Level{Level: sandbox.LevelFull}); level.Level != sandbox.LevelNone || !strings.Contains(level.Missing[0], "Seccomp is 0") {
			t.Errorf("%+v", level)
		}
		if asked != 1 {
			t.Errorf("examined %d times", asked)
		}
		time.Sleep(askAgain + time.Millisecond)
		next = holds
		if err := p.wait(t.Context(), runtimes.JavaScript); err != nil || asked != 2 {
			t.Errorf("after a good examination: %v, %d times", err, asked)
		}
	})
}

// TestBrokenLanguageStopsItself checks that a failed check of one language blocks only programs of that language.
func TestBrokenLanguageStopsItself(t *testing.T) {
	t.Parallel()
	p := newSelfTest(func(context.Context) doctor.Report { return reportOf(working, holds) }, slog.New(slog.DiscardHandler))
	defer func() { _ = p.close() }()
	p.begin()
	for language, fine := range map[runtimes.Language]bool{runtimes.JavaScript: false, runtimes.TypeScript: false, runtimes.Python: true} {
		if err := p.wait(t.Context(), language); (err == nil) != fine {
			t.Errorf("%s: %v", language, err)
		}
	}
	if why := p.refusal(runtimes.TypeScript); !strings.Contains(why, "broken") {
		t.Errorf("the reason is %q", why)
	}
}

// TestWaitingEndsWithTheRun checks that a run stops waiting for the self-test when it is cancelled, and when the server
// is closed.
func TestWaitingEndsWithTheRun(t *testing.T) {
	t.Parallel()
	p := newSelfTest(func(ctx context.Context) doctor.Report { <-ctx.Done(); return reportOf() }, slog.New(slog.DiscardHandler))
	p.begin()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.wait(ctx, runtimes.Bash); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	outcome, err := proved{nil, p}.Run(ctx, runtimes.Job{Language: runtimes.Bash}, nil)
	if err != nil || outcome.Error == nil || outcome.Error.Type != runtimes.Cancelled {
		t.Errorf("%+v, %v", outcome, err)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

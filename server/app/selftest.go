package app

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/doctor"
	"github.com/atelier-run/atelier/runtimes/sandbox"
)

// selfTest runs a short self-test of the sandbox while the server starts. Programs run only after the self-test has
// passed. If it fails, it is repeated, because the machine may have been too busy.
type selfTest struct {
	examine func(context.Context) doctor.Report
	log     *slog.Logger

	ctx    context.Context // context of the self-tests
	stop   context.CancelFunc
	joined sync.WaitGroup

	mu      sync.Mutex
	begun   bool
	done    chan struct{} // closed when the current self-test is finished
	ended   time.Time
	report  doctor.Report
	all     string                       // reason why no program may run; "" if programs may run
	refused map[runtimes.Language]string // reason why programs of a language may not run
}

const (
	examinationTime = 30 * time.Second // time limit of a self-test; long enough for a very busy machine
	askAgain        = 5 * time.Second
)

func newSelfTest(examine func(context.Context) doctor.Report, log *slog.Logger) *selfTest {
	p := &selfTest{examine: examine, log: log}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// begin starts a self-test, unless one is running.
func (p *selfTest) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.beginLocked()
}

func (p *selfTest) beginLocked() {
	if p.begun && p.done != nil || p.ctx.Err() != nil {
		return
	}
	p.begun, p.done = true, make(chan struct{})
	p.joined.Go(func() {
		ctx, cancel := context.WithTimeout(p.ctx, examinationTime)
		defer cancel()
		p.conclude(p.examine(ctx))
	})
}

// conclude stores the results of a self-test.
func (p *selfTest) conclude(r doctor.Report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report, p.ended, p.all, p.refused = r, time.Now(), "", map[runtimes.Language]string{}
	for _, c := range r.Checks {
		if c.Verdict != doctor.Fail || r.Level == sandbox.LevelNone { // If the level is none, the sandbox itself rejects runs with a reason.
			continue
		}
		why := fmt.Sprintf("%s: %s %s", c.Name, c.Evidence, c.Fix)
		switch {
		case c.Works() && c.Language != "":
			p.refused[c.Language] = why
		case p.all == "":
			p.all = why
		}
	}
	close(p.done)
	p.done = nil
	if p.ctx.Err() != nil {
		return
	}
	severity := slog.LevelInfo
	if p.all != "" || len(p.refused) > 0 {
		severity = slog.LevelError
	}
	p.log.LogAttrs(p.ctx, severity, "sandbox examined", slog.String("verdict", string(r.Verdict)), slog.Int64("took_ms", r.TookMs),
		slog.Int("passed", r.Passed), slog.Int("reduced", r.Reduced), slog.Int("failed", r.Failed), slog.String("why", p.first()))
}

// first returns the reason why no program may run. If there is none, it returns the reason why the programs of one
// language may not run, or "".
func (p *selfTest) first() string {
	why := p.all
	for _, other := range p.refused {
		if why == "" {
			why = other
		}
	}
	return why
}

// wait blocks until programs of a language may run. If they may not run, it returns an error.
func (p *selfTest) wait(ctx context.Context, language runtimes.Language) error {
	for asked := false; ; {
		p.mu.Lock()
		if !p.begun {
			p.mu.Unlock()
			return nil // No self-test is required.
		}
		done, why := p.done, p.why(language)
		if done == nil && why != "" && !asked && time.Since(p.ended) > askAgain {
			p.beginLocked()
			done, asked = p.done, true
		}
		p.mu.Unlock()
		switch {
		case done == nil && why == "":
			return nil
		case done == nil:
			return &fault.Error{Code: fault.SandboxUnavailable, Message: "Nothing is executed because the sandbox of this server failed its self-test. " + why}
		}
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (p *selfTest) why(language runtimes.Language) string {
	if p.all != "" {
		return p.all
	}
	if language == runtimes.TypeScript {
		language = runtimes.JavaScript // One engine runs both languages.
	}
	return p.refused[language]
}

// level returns own, which is the level that the sandbox reports. If the self-test failed, it returns the level none.
func (p *selfTest) level(own sandbox.Level) sandbox.Level {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == "" || own.Level == sandbox.LevelNone {
		return own
	}
	own.Level = sandbox.LevelNone
	own.Missing = append([]string{p.all}, own.Missing...)
	return own
}

// refusal returns the reason why programs of a language may not run, or "" if there is none.
func (p *selfTest) refusal(language runtimes.Language) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why(language)
}

// result waits until a running self-test has ended, and returns the report.
func (p *selfTest) result(ctx context.Context) (doctor.Report, error) {
	for {
		p.mu.Lock()
		done, report := p.done, p.report
		p.mu.Unlock()
		if done == nil {
			return report, nil
		}
		select {
		case <-done:
		case <-ctx.Done():
			return report, ctx.Err()
		}
	}
}

func (p *selfTest) close() error {
	p.stop()
	p.joined.Wait()
	return nil
}

// proved wraps a runtime so that programs run only after the self-test has passed. It also rejects runs in the
// workspace that is reserved for the self-test, because runs in that workspace may reach all hosts. The self-test calls
// the engines directly.
type proved struct {
	runtimes.Runtime
	selfTest *selfTest
}

// Run implements runtimes.Runtime.
func (p proved) Run(ctx context.Context, job runtimes.Job, host runtimes.Host) (runtimes.Outcome, error) {
	if job.Workspace == doctor.Workspace {
		return runtimes.Outcome{}, fault.New(fault.Forbidden, "The workspace %s is reserved for the server; programs cannot run in it.", job.Workspace)
	}
	language := job.Language
	if job.Runtime == runtimes.NodeEngine {
		language = doctor.Node
	}
	err := p.selfTest.wait(ctx, language)
	if ctx.Err() != nil {
		return runtimes.Failed(runtimes.Cancelled, "The run was cancelled."), nil //nolint:nilerr // the run ended because it was cancelled, not because the server failed
	}
	if err != nil {
		return runtimes.Outcome{}, err
	}
	return p.Runtime.Run(ctx, job, host)
}

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

// selfTest is the doctor's word on this server: a short examination that goes on beside the start. Runs wait for it, and
// none is let through without it. A bad word is asked for again, since a machine can be too busy for a first one.
type selfTest struct {
	examine func(context.Context) doctor.Report
	log     *slog.Logger

	ctx    context.Context // of the examinations
	stop   context.CancelFunc
	joined sync.WaitGroup

	mu      sync.Mutex
	begun   bool
	done    chan struct{} // closed when the examination that is on is over
	ended   time.Time
	report  doctor.Report
	all     string                       // why nothing may run, "" if it may
	refused map[runtimes.Language]string // why a language may not
}

const (
	examinationTime = 30 * time.Second // on a machine that is very busy
	askAgain        = 5 * time.Second
)

func newSelfTest(examine func(context.Context) doctor.Report, log *slog.Logger) *selfTest {
	p := &selfTest{examine: examine, log: log}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// begin starts an examination, unless one is on.
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

// conclude keeps what an examination found.
func (p *selfTest) conclude(r doctor.Report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report, p.ended, p.all, p.refused = r, time.Now(), "", map[runtimes.Language]string{}
	for _, c := range r.Checks {
		if c.Verdict != doctor.Fail || r.Level == sandbox.LevelNone { // then the sandbox itself refuses, and says why
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

// first is what speaks against running anything, or some language.
func (p *selfTest) first() string {
	why := p.all
	for _, other := range p.refused {
		if why == "" {
			why = other
		}
	}
	return why
}

// wait blocks until programs of a language may run, and answers an error when they may not.
func (p *selfTest) wait(ctx context.Context, language runtimes.Language) error {
	for asked := false; ; {
		p.mu.Lock()
		if !p.begun {
			p.mu.Unlock()
			return nil // nobody wants a proof
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
		language = runtimes.JavaScript // one engine
	}
	return p.refused[language]
}

// level is what the sandbox says of itself, unless the examination says otherwise.
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

// refusal is why programs of a language may not run, "" as long as nothing speaks against it.
func (p *selfTest) refusal(language runtimes.Language) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why(language)
}

// result waits for an examination that is on.
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

// proved is a runtime that runs nothing before the proof, and nothing in the name of the doctor: that reaches engines by itself,
// and its hosts have no ceiling.
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
		return runtimes.Failed(runtimes.Cancelled, "The run was cancelled."), nil //nolint:nilerr // that is how the run ended, and no failure of ours
	}
	if err != nil {
		return runtimes.Outcome{}, err
	}
	return p.Runtime.Run(ctx, job, host)
}

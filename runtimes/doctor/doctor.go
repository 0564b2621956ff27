// Package doctor tests that the sandbox works. It starts ordinary runs with programs that try actions which must fail
// and actions which must work. It observes the runs from inside and from the host. Each check has the result PASS,
// REDUCED or FAIL, with evidence and a fix.
package doctor

import (
	"context"
	"slices"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/attacks"
	"github.com/atelier-run/atelier/runtimes/sandbox"
)

// Node stands for JavaScript in Node. It is treated as a separate language, because its isolation differs from goja's.
const Node = attacks.Node

// Engine is the configuration of one language on this server.
type Engine struct {
	Language    runtimes.Language
	Name        runtimes.Name
	Runtime     runtimes.Runtime
	Interpreter string // absolute path of the interpreter, "" if the language needs none
	Unavailable string // reason why programs in the language cannot run here, with a fix; "" if they can
}

// Box is the doctor's interface to the sandbox itself, in addition to the engines.
type Box interface {
	Level() sandbox.Level
	Host() sandbox.Host
	Prepare(ctx context.Context, profile sandbox.Profile) (*sandbox.Jail, error)
}

// Inspect inspects a program without running it. An error means that the server failed.
type Inspect func(ctx context.Context, language runtimes.Language, files map[string][]byte, entrypoint string) error

// Options configures a Doctor.
type Options struct {
	Box     Box
	Engines []Engine
	Inspect Inspect // nil: checks that need it are skipped
	Server  string  // base address of a server for the HTTP checks; "" skips them
	Planted Planted // secret that was created before the sandbox; see Plant
	Binary  string  // program that sandboxes start; "" for the running one
	Only    []Group // groups to check; nil: all groups; the environment and the controls are always checked
	Look    func() Facts
	Report  func(Check) // called with each check when it is done; may be nil
}

// Doctor creates reports. It is not safe for concurrent use.
type Doctor struct {
	Options
	checks []Check
	began  time.Time
}

// New returns a doctor.
func New(o Options) *Doctor {
	if o.Report == nil {
		o.Report = func(Check) {}
	}
	if o.Look == nil {
		o.Look = func() Facts { return Look(o) }
	}
	return &Doctor{Options: o}
}

// Full runs every check. It takes some seconds and loads the whole machine.
func (d *Doctor) Full(ctx context.Context) Report {
	d.begin()
	d.environment()
	if d.Box.Level().Level == sandbox.LevelNone {
		return d.report(ctx)
	}
	able := d.controls(ctx)
	for _, part := range []struct {
		group Group
		look  func(context.Context, []Engine)
	}{
		{Inside, d.insides},
		{Syscalls, d.systemCalls},
		{Syscalls, d.alone},
		{Canaries, d.canaries},
		{Canaries, d.tenants},
		{Canaries, d.grants},
		{Limits, d.limits},
		{Persistence, d.persistence},
		{Crashes, d.crashes},
		{Speed, d.speed},
		{HTTP, d.http},
	} {
		if ctx.Err() == nil && (len(d.Only) == 0 || slices.Contains(d.Only, part.group)) {
			part.look(ctx, able)
		}
	}
	return d.report(ctx)
}

// Quick runs the checks for the start of a server: in each language one ordinary program, and one program that inspects
// its environment. It does not check the host, because the sandbox has already done that.
func (d *Doctor) Quick(ctx context.Context) Report {
	d.begin()
	if lack := d.Box.Level(); lack.Level == sandbox.LevelNone {
		d.lacks()
		return d.report(ctx)
	}
	d.glances(ctx)
	return d.report(ctx)
}

func (d *Doctor) begin() {
	d.checks, d.began = nil, time.Now()
}

// add records a check. A failed check becomes REDUCED if the sandbox already reports that its mechanism is missing.
func (d *Doctor) add(c Check) {
	if c.Verdict == Fail && c.Mechanism != "" {
		for _, lack := range d.Box.Level().Lacks {
			if lack.Mechanism == c.Mechanism {
				c.Verdict, c.Fix = Reduced, lack.Remedy
			}
		}
	}
	if c.Verdict == Pass {
		c.Fix = ""
	}
	d.checks = append(d.checks, c)
	d.Report(c)
}

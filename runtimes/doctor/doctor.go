// Package doctor proves that the jail holds. It runs real programs by the way that runs take, tries what must fail and
// what must work, looks from inside and from the host, and says of each thing PASS, REDUCED or FAIL with its evidence and
// what would mend it. It believes nothing that it has not seen.
package doctor

import (
	"context"
	"slices"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/sandbox"
)

// Node stands for JavaScript that Node runs, as a language of its own: its walls are others than those of goja.
const Node runtimes.Language = "node"

// Engine is one language as this server runs it.
type Engine struct {
	Language    runtimes.Language
	Name        runtimes.Name
	Runtime     runtimes.Runtime
	Interpreter string // absolute path, "" when the language needs none
	Unavailable string // why it cannot run here and what to do, "" when it can
}

// Box is what the doctor asks of the sandbox itself, beside the engines over it.
type Box interface {
	Level() sandbox.Level
	Host() sandbox.Host
	Prepare(ctx context.Context, profile sandbox.Profile) (*sandbox.Jail, error)
}

// Inspect looks at a program without running it. An error means that the house failed.
type Inspect func(ctx context.Context, language runtimes.Language, files map[string][]byte, entrypoint string) error

// Options of a Doctor.
type Options struct {
	Box     Box
	Engines []Engine
	Inspect Inspect // nil leaves its checks out
	Server  string  // base address of a server to try over HTTP; "" leaves that out
	Planted Planted // from before the sandbox was made; see Plant
	Binary  string  // the file that is started in jails
	Only    []Group // nil is all of them; the environment and the controls are always looked at
	Look    func() Facts
	Report  func(Check) // hears of each check as it is made; may be nil
}

// Doctor makes reports. One at a time.
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

// Full makes every check. It takes some seconds and a good part of the machine.
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

// Quick is the part that a server does at its start: in each language one program that is fine, and one that looks
// around. What the host is was found out when the sandbox was made.
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

// add records a check. A wall that the operator said may be missing is REDUCED when it is found missing.
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

package runs

import (
	"context"
	"errors"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/packages"
)

// packages installs the packages of the program before the program's time limit starts. Each step is an event of the
// run. If packages cannot be installed, the program fails. If this server cannot install any packages, the server's
// error is returned. The caller must call release when the program has ended.
func (l *execution) packages() (release func(), failed *runtimes.ProgramError, err error) {
	nothing := func() {}
	if !packages.Needed(l.spec) {
		return nothing, nil, nil
	}
	if l.service.Packages == nil {
		return nothing, nil, fault.New(fault.RuntimeUnavailable, "This server installs no packages.")
	}
	ctx, span := l.service.step(l.ctx, "packages")
	defer span.End()
	agent := l.of.AgentID
	found, release, err := l.service.Packages.Provide(ctx, l.job.Workspace, agent, l.spec, func(s packages.Step) {
		l.emit(runtimes.KindProgress, runtimes.ProgressData{Done: float64(s.Done), Total: float64(s.Total), Message: s.Message})
	})
	if err != nil {
		failed, err = packagesFailed(l.ctx, err)
		return nothing, failed, err
	}
	l.job.Packages = &found
	return release, nil, nil
}

// packagesFailed returns the program's error if its packages cannot be installed, or else the error of the server.
func packagesFailed(ctx context.Context, err error) (*runtimes.ProgramError, error) {
	if ctx.Err() != nil {
		return &runtimes.ProgramError{Type: runtimes.Cancelled, Message: "The run was cancelled while its packages were installed."}, nil
	}
	var refused *fault.Error
	if errors.As(err, &refused) && (refused.Code == fault.InvalidInput || refused.Code == fault.IndexUnavailable || refused.Code == fault.Forbidden) {
		remedy, _ := refused.Extra["remedy"].(string)
		kind := runtimes.RuntimeError
		if len(refused.Details) > 0 && refused.Details[0].Code == packages.CodeBlocked {
			kind = runtimes.Denied
		}
		return &runtimes.ProgramError{Type: kind, Message: refused.Message, Remedy: remedy, Rule: "packages"}, nil
	}
	return nil, err
}

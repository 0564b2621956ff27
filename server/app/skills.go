package app

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/atelier-run/atelier/runtimes/egress"
	"github.com/atelier-run/atelier/studio/skills"
)

// openSkills opens the directory of skills and loads the skills in the background. The server may be ready before the
// skills are loaded; a request for a skill then waits.
func (a *App) openSkills(ctx context.Context) error {
	dir, err := filepath.Abs(skillsFolder(a.Config))
	if err != nil {
		return fmt.Errorf("skills directory %s: %w", a.Config.Skills, err)
	}
	o := skills.Options{
		Store: a.store, Agents: a.agents, Runs: a.runs, Dir: dir, Log: a.Log, Now: a.Now, Replicas: a.Config.Replicas,
		Fetcher: skills.Download{Proxy: egress.New(egress.Options{Server: a.engines.listeners.all}), Hosts: a.Config.SkillsHosts}, Catalog: a.catalog,
	}
	if a.Config.SkillsBuiltin {
		o.Builtin = a.Skills
	}
	if a.skills, err = skills.New(o); err != nil {
		return fmt.Errorf("open the skills directory: %w; choose another one with --skills", err)
	}
	a.closers.add("skills directory", a.skills.Close)
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.skills.Watch(ctx)
	}()
	a.closers.add("skills", func() error {
		stop()
		<-ended
		return nil
	})
	return nil
}

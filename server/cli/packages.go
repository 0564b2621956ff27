package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/packages"
)

type packagesCommand struct {
	List    packagesList    `cmd:"" help:"List the installed packages of the workspace."`
	Resolve packagesResolve `cmd:"" help:"Show the exact package versions of a draft, and how they differ from the latest version of the agent."`
	GC      packagesGC      `cmd:"" name:"gc" help:"Remove packages that no version uses and that no draft used recently (see --unused)."`
}

type packagesList struct{ asked }

func (c *packagesList) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodGet, "/api/v1/packages/installed", nil, func(answer json.RawMessage) error {
		var all page[packages.Installed]
		if err := read(answer, &all); err != nil {
			return err
		}
		t := newTable(p.Stdout, "PACKAGE", "VERSION", "LICENCE", "LOCK", "SIZE OF LOCK", "USED", "VERSIONS")
		for _, lock := range all.Items {
			users := make([]string, 0, len(lock.UsedBy))
			for _, user := range lock.UsedBy {
				users = append(users, user.Agent+"@"+user.Version)
			}
			for _, one := range lock.Packages {
				t.row(one.Name, one.Version, or(one.License, "(unknown)"), lock.Digest[:min(len(lock.Digest), 19)], bytesize.Text(lock.Bytes), lock.UsedAt.UTC().Format(time.RFC3339), or(strings.Join(users, ", "), "(none)"))
			}
		}
		return t.flush()
	})
}

type packagesResolve struct {
	Agent string `arg:"" help:"Name or ID of the agent."`
	Renew bool   `help:"Resolve again and replace the exact packages of the draft."`
	asked
}

func (c *packagesResolve) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodPost, agentPath(c.Agent)+"/packages/resolve", map[string]any{"renew": c.Renew}, func(answer json.RawMessage) error {
		var found agents.Resolved
		if err := read(answer, &found); err != nil {
			return err
		}
		t := newTable(p.Stdout, "PACKAGE", "VERSION", "CHANGE")
		changes := map[string]string{}
		for _, change := range found.Changes {
			changes[change.Name] = or(change.Before, "(none)") + " → " + or(change.After, "(none)")
		}
		if found.Lock != nil {
			for _, one := range found.Lock.Packages {
				t.row(one.Name, one.Version, changes[one.Name])
			}
		}
		return t.flush()
	})
}

type packagesGC struct {
	Unused time.Duration `field:"unusedHours" help:"Time since the last use, at least 1h, in whole hours." default:"720h" placeholder:"DURATION"`
	DryRun bool          `field:"dryRun" help:"Only list the packages to remove."`
	asked
}

func (c *packagesGC) run(ctx context.Context, p Process) error {
	body := map[string]any{"unusedHours": wholeHours(c.Unused), "dryRun": c.DryRun}
	return c.ask(ctx, p, http.MethodPost, "/api/v1/packages/gc", body, func(answer json.RawMessage) error {
		var done packages.Collected
		if err := read(answer, &done); err != nil {
			return err
		}
		if len(done.Items) > 0 {
			t := newTable(p.Stdout, "KIND", "DIGEST", "SIZE", "PACKAGES")
			for _, one := range done.Items {
				t.row(one.Kind, one.Digest[:min(len(one.Digest), 19)], bytesize.Text(one.Bytes), strings.Join(one.Packages, ", "))
			}
			if err := t.flush(); err != nil {
				return err
			}
		}
		verb := "removed"
		if done.DryRun {
			verb = "would remove"
		}
		return p.say("%s %d installations and %d archives, %s", verb, done.Locks, len(done.Items)-done.Locks, bytesize.Text(done.Bytes))
	})
}

type sbomCommand struct {
	Agent   string `arg:"" help:"Name or ID of the agent."`
	Version string `arg:"" optional:"" default:"latest" help:"Version, such as 1.2.0, ^1, latest or sha256:…."`
	asked
}

func (c *sbomCommand) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodGet, agentPath(c.Agent)+"/versions/"+url.PathEscape(c.Version)+"/sbom", nil, func(answer json.RawMessage) error {
		return p.print(string(answer))
	})
}

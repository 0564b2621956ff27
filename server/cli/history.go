package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/atelier-run/atelier/registry"
)

type historyCommand struct {
	List    historyList    `cmd:"" default:"withargs" help:"List the saves of an agent's draft, newest first."`
	Show    historyShow    `cmd:"" help:"Show the differences between a save and the draft."`
	Label   historyLabel   `cmd:"" help:"Label a save. Only the last 50 saves and the labelled saves are kept."`
	Restore historyRestore `cmd:"" help:"Restore an earlier save as the draft. The current draft stays in the history."`
}

type historyList struct {
	Agent string `arg:"" help:"Name or ID of the agent."`
	Limit int    `help:"Maximum number of saves." default:"50"`
	asked
}

func (c *historyList) run(ctx context.Context, p Process) error {
	type entry struct {
		Revision int64
		SavedAt  time.Time
		SavedBy  struct{ Name string }
		Label    string
		Files    []string
		Settings bool
	}
	return list(ctx, p, c.asked, agentPath(c.Agent)+"/draft/history", url.Values{}, c.Limit, func(items []entry) error {
		t := newTable(p.Stdout, "REVISION", "SAVED", "BY", "LABEL", "CHANGED")
		for _, e := range items {
			changed := e.Files
			if e.Settings {
				changed = append(changed, "settings")
			}
			t.row(strconv.FormatInt(e.Revision, 10), e.SavedAt.Local().Format(time.DateTime), e.SavedBy.Name, e.Label, strings.Join(changed, " "))
		}
		return t.flush()
	})
}

type historyShow struct {
	Agent    string `arg:"" help:"Name or ID of the agent."`
	Revision int64  `arg:"" help:"Revision number of the saved draft, as atelier history list shows it."`
	asked
}

func (c *historyShow) run(ctx context.Context, p Process) error {
	return c.with(ctx, p, func(server *client) error {
		var answer json.RawMessage
		if err := server.call(ctx, http.MethodGet, savePath(c.Agent, c.Revision), nil, &answer); err != nil {
			return err
		}
		return c.print(p, answer, func(json.RawMessage) error {
			var agent wireAgent
			if err := server.call(ctx, http.MethodGet, agentPath(c.Agent), nil, &agent); err != nil {
				return err
			}
			old := agent // A history entry does not contain name, title, description, tags and metadata, so these fields come from the current agent.
			old.Draft = nil
			if err := read(answer, &old.Draft); err != nil {
				return err
			}
			before, err := folderOf(old)
			if err != nil {
				return err
			}
			after, err := folderOf(agent)
			if err != nil {
				return err
			}
			if len(changed(before, after)) == 0 {
				return p.say("no differences")
			}
			showChanges(p.Stdout, before, after)
			return nil
		})
	})
}

func folderOf(agent wireAgent) (map[string]registry.File, error) {
	kept, err := keptOf(agent)
	if err != nil {
		return nil, err
	}
	return kept.folder()
}

type historyLabel struct {
	Agent    string `arg:"" help:"Name or ID of the agent."`
	Revision int64  `arg:"" help:"Revision number of the saved draft, as atelier history list shows it."`
	Label    string `arg:"" optional:"" help:"New label. Without it the label is removed."`
	asked
}

func (c *historyLabel) run(ctx context.Context, p Process) error {
	return c.change(ctx, p, http.MethodPatch, savePath(c.Agent, c.Revision), map[string]string{"label": c.Label})
}

type historyRestore struct {
	Agent string `arg:"" help:"Name or ID of the agent."`
	Save  int64  `arg:"" name:"revision" help:"Revision number of the saved draft, as atelier history list shows it."`
	asked
}

func (c *historyRestore) run(ctx context.Context, p Process) error {
	return c.with(ctx, p, func(server *client) error {
		kept, err := fetchAgent(ctx, server, c.Agent)
		if err != nil {
			return err
		}
		match := map[string]string{"If-Match": strconv.Quote(strconv.FormatInt(kept.revision, 10))}
		var answer json.RawMessage
		if err := server.exchange(ctx, http.MethodPost, savePath(c.Agent, c.Save)+"/restore", nil, match, into(&answer)); err != nil {
			return err
		}
		return c.print(p, answer, func(json.RawMessage) error {
			return p.say("restored revision %d of %s; revision %d stays in the history", c.Save, c.Agent, kept.revision)
		})
	})
}

func savePath(agent string, revision int64) string {
	return agentPath(agent) + "/draft/history/" + strconv.FormatInt(revision, 10)
}

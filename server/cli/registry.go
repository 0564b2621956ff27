package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

type registryCommand struct {
	Search registrySearchCommand `cmd:"" help:"List or search the public registry."`
	Copy   registryCopyCommand   `cmd:"" help:"Copy an agent from the registry into the workspace."`
	List   registryListCommand   `cmd:"" help:"List an agent of the workspace in the registry, so that others can find it."`
	Unlist registryUnlistCommand `cmd:"" help:"Remove an agent of the workspace from the registry."`
}

const registryPath = "/api/v1/code-agents/registry"

// listedAgent is an agent of the registry in the server's answer.
type listedAgent struct {
	ID, Publisher, Name, Title, Language, LatestVersion string
	LatestDeprecated                                    bool
	UsageCount                                          int64
}

type registrySearchCommand struct {
	Query    string `arg:"" optional:"" help:"Search text in name, title, description or tags."`
	Language string `help:"Only agents in this language: typescript, javascript, python, bash or wasm." placeholder:"LANGUAGE"`
	Tag      string `help:"Only agents with this tag." placeholder:"TAG"`
	asked
}

func (c *registrySearchCommand) run(ctx context.Context, p Process) error {
	query := said(map[string]string{"q": c.Query, "language": c.Language, "tag": c.Tag})
	return list(ctx, p, c.asked, registryPath, query, 10_000, func(agents []listedAgent) error {
		t := newTable(p.Stdout, "PUBLISHER", "NAME", "LANGUAGE", "LATEST", "RUNS", "ID", "TITLE")
		for _, a := range agents {
			t.row(a.Publisher, a.Name, a.Language, latest(a.LatestVersion, a.LatestDeprecated), strconv.FormatInt(a.UsageCount, 10), a.ID, a.Title)
		}
		return t.flush()
	})
}

type registryCopyCommand struct {
	Agent   string `arg:"" help:"PUBLISHER/NAME, ID, or a name that is unique in the registry."`
	Name    string `help:"Name of the copy (default: the original name)." placeholder:"NAME"`
	Version string `help:"Version to copy (default: the latest)." placeholder:"VERSION"`
	asked
}

func (c *registryCopyCommand) run(ctx context.Context, p Process) error {
	return c.with(ctx, p, func(server *client) error {
		id, err := idInRegistry(ctx, server, c.Agent)
		if err != nil {
			return err
		}
		body := map[string]string{}
		for field, value := range map[string]string{"name": c.Name, "version": c.Version} {
			if value != "" {
				body[field] = value
			}
		}
		var answer json.RawMessage
		if err := server.call(ctx, http.MethodPost, registryPath+"/"+url.PathEscape(id)+"/copy", body, &answer); err != nil {
			return err
		}
		return c.print(p, answer, named(p))
	})
}

// idInRegistry converts PUBLISHER/NAME, or a name that only one publisher lists, to the agent's ID. If no agent has the
// name, the text counts as an ID.
func idInRegistry(ctx context.Context, server *client, wanted string) (string, error) {
	if publisher, name, ok := strings.Cut(wanted, "/"); ok {
		var found listedAgent
		err := server.call(ctx, http.MethodGet, registryPath+"/"+url.PathEscape(publisher)+"/"+url.PathEscape(name), nil, &found)
		return found.ID, err
	}
	agents, err := all[listedAgent](ctx, server, registryPath, said(map[string]string{"q": wanted}), 10_000)
	if err != nil {
		return "", err
	}
	id := ""
	for _, a := range agents {
		switch {
		case a.Name != wanted:
		case id != "":
			return "", misusedf("several workspaces list an agent %s; run `atelier registry search %s` to find the publisher, then use PUBLISHER/%s", wanted, wanted, wanted)
		default:
			id = a.ID
		}
	}
	return or(id, wanted), nil
}

type registryListCommand struct {
	Agent string `arg:"" help:"Name or ID of the agent."`
	asked
}

func (c *registryListCommand) run(ctx context.Context, p Process) error {
	return setListed(ctx, p, c.asked, c.Agent, true)
}

type registryUnlistCommand struct {
	Agent string `arg:"" help:"Name or ID of the agent."`
	asked
}

func (c *registryUnlistCommand) run(ctx context.Context, p Process) error {
	return setListed(ctx, p, c.asked, c.Agent, false)
}

func setListed(ctx context.Context, p Process, a asked, agent string, listed bool) error {
	return a.ask(ctx, p, http.MethodPost, agentPath(agent)+"/publish", map[string]bool{"public": listed}, func(json.RawMessage) error {
		if listed {
			return p.say("%s is listed in the registry; every workspace of the server can read and copy its versions", agent)
		}
		return p.say("%s is no longer listed in the registry", agent)
	})
}

// said returns a query that contains only the non-empty values.
func said(values map[string]string) url.Values {
	query := url.Values{}
	for name, value := range values {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}

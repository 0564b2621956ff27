package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/agents"
)

type pullCommand struct {
	Agent string `arg:"" help:"Name or ID."`
	Dir   string `arg:"" help:"Folder of an agent, an empty folder, or a new one." type:"path"`
	Yes   bool   `short:"y" help:"Do not ask for confirmation."`
	remote
}

func (c *pullCommand) run(ctx context.Context, p Process) error {
	return c.with(ctx, p, func(server *client) (err error) {
		kept, err := fetchAgent(ctx, server, c.Agent)
		if err != nil {
			return err
		}
		var in agents.Input
		if err := assemble(kept.fields, &in); err != nil {
			return err
		}
		wanted, err := agents.FolderOf(in)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(c.Dir, 0o755); err != nil {
			return err
		}
		root, err := os.OpenRoot(c.Dir) // links in the folder cannot lead outside it
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, root.Close()) }()
		there, err := lying(root.FS())
		if err != nil {
			return err
		}
		if _, isAgent := there["agent.yaml"]; !isAgent && len(there) > 0 {
			return misusedf("%s has files but no agent.yaml; pull would delete these files; choose another folder", c.Dir)
		}
		if ok, err := c.agreed(p, c.Yes, there, wanted); !ok || err != nil {
			return err
		}
		return writeFolder(root, there, wanted)
	})
}

// agreed prints the changes and asks for confirmation.
func (remote) agreed(p Process, yes bool, from, to map[string]registry.File) (bool, error) {
	if len(changed(from, to)) == 0 {
		_, _ = fmt.Fprintln(p.Stderr, "no differences")
		return false, nil
	}
	showChanges(p.Stdout, from, to)
	if yes {
		return true, nil
	}
	_, _ = fmt.Fprint(p.Stderr, "Write these changes? [y/N] ")
	answer, _ := bufio.NewReader(p.Stdin).ReadString('\n') // no answer means no
	if strings.EqualFold(strings.TrimSpace(answer), "y") {
		return true, nil
	}
	return false, fmt.Errorf("nothing was written")
}

// lying returns the files of a folder that belong to an agent. It skips names that start with a dot and the example
// input.
func lying(folder fs.FS) (map[string]registry.File, error) {
	files := map[string]registry.File{}
	err := fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != "." && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !entry.Type().IsRegular() || path == "input.json":
			return nil
		}
		content, err := fs.ReadFile(folder, path)
		files[path] = content
		return err
	})
	return files, err
}

// writeFolder updates a folder to the wanted files. It replaces a file and never writes into it, so that links are not
// followed.
func writeFolder(root *os.Root, there, wanted map[string]registry.File) error {
	for _, name := range changed(there, wanted) {
		content, is := wanted[name]
		if !is {
			if err := root.Remove(name); err != nil {
				return err
			}
			continue
		}
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		passing := path.Join(path.Dir(name), ".atelier-pull")
		if err := root.WriteFile(passing, content, 0o644); err != nil {
			return err
		}
		if err := root.Rename(passing, name); err != nil {
			return errors.Join(err, root.Remove(passing))
		}
	}
	return nil
}

type pushCommand struct {
	Dir string `arg:"" help:"Folder with agent.yaml and code." type:"existingdir"`
	Yes bool   `short:"y" help:"Do not ask for confirmation."`
	remote
}

func (c *pushCommand) run(ctx context.Context, p Process) error {
	folder, err := agents.ReadFolder(os.DirFS(c.Dir))
	if err != nil {
		return err
	}
	if folder.Agent.Name == nil {
		return misusedf("%s/agent.yaml must have a name", c.Dir)
	}
	local, err := fieldsOf(folder.Agent)
	if err != nil {
		return err
	}
	return c.with(ctx, p, func(server *client) error {
		kept, err := fetchAgent(ctx, server, *folder.Agent.Name)
		isNew := fault.Is(err, fault.NotFound)
		if err != nil && !isNew {
			return err
		}
		before := map[string]registry.File{}
		if !isNew {
			var was agents.Input
			if err := assemble(kept.fields, &was); err != nil {
				return err
			}
			if before, err = agents.FolderOf(was); err != nil {
				return err
			}
		}
		sent, err := laidOver(kept.fields, local)
		if err != nil {
			return err
		}
		var after agents.Input
		if err := assemble(sent, &after); err != nil {
			return err
		}
		wanted, err := agents.FolderOf(after)
		if err != nil {
			return err
		}
		if ok, err := c.agreed(p, c.Yes, before, wanted); !ok || err != nil {
			return err
		}
		if isNew {
			return server.call(ctx, http.MethodPost, "/api/v1/code-agents", sent, nil)
		}
		match := map[string]string{"If-Match": `"` + strconv.FormatInt(kept.revision, 10) + `"`}
		return server.exchange(ctx, http.MethodPut, "/api/v1/code-agents/"+url.PathEscape(kept.id), sent, match, into(nil))
	})
}

// keptAgent is an agent on a server: the fields of PUT, by name.
type keptAgent struct {
	id       string
	revision int64
	fields   map[string]json.RawMessage
}

func fetchAgent(ctx context.Context, server *client, name string) (keptAgent, error) {
	var whole struct {
		ID, Name, Title, Description string
		Tags                         []string
		Metadata                     json.RawMessage
		Draft                        map[string]json.RawMessage
	}
	if err := server.call(ctx, http.MethodGet, "/api/v1/code-agents/"+url.PathEscape(name), nil, &whole); err != nil {
		return keptAgent{}, err
	}
	kept := keptAgent{id: whole.ID, fields: whole.Draft}
	if err := json.Unmarshal(whole.Draft["revision"], &kept.revision); err != nil {
		return keptAgent{}, fmt.Errorf("read the server's answer: %w", err)
	}
	for _, field := range []string{"revision", "savedAt", "savedBy"} { // these belong to the draft and are not part of the saved body
		delete(kept.fields, field)
	}
	for field, value := range map[string]any{"name": whole.Name, "title": whole.Title, "description": whole.Description, "tags": whole.Tags, "metadata": whole.Metadata} {
		text, err := json.Marshal(value)
		if err != nil {
			return keptAgent{}, err
		}
		kept.fields[field] = text
	}
	return kept, nil
}

func fieldsOf(in agents.Input) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	return fields, json.Unmarshal(text, &fields)
}

// laidOver returns the body of a push: the folder's fields override the server's. Limits that the folder does not set
// stay unchanged.
func laidOver(kept, local map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	sent := map[string]json.RawMessage{}
	for field, value := range kept {
		sent[field] = value
	}
	for field, value := range local {
		if field == "limits" && sent[field] != nil {
			var was, is map[string]json.RawMessage
			if err := errors.Join(json.Unmarshal(sent[field], &was), json.Unmarshal(value, &is)); err != nil {
				return nil, err
			}
			for limit, n := range is {
				if string(n) != "0" {
					was[limit] = n
				}
			}
			text, err := json.Marshal(was)
			if err != nil {
				return nil, err
			}
			value = text
		}
		sent[field] = value
	}
	return sent, nil
}

func assemble(fields map[string]json.RawMessage, in *agents.Input) error {
	text, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, in); err != nil {
		return fmt.Errorf("read the agent: %w", err)
	}
	return nil
}

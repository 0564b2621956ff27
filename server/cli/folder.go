package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/agents"
)

type pullCommand struct {
	Agent string `arg:"" help:"Name or ID of the agent."`
	Dir   string `arg:"" help:"Folder of an agent, an empty folder, or a new one." type:"path"`
	Yes   bool   `short:"y" help:"Do not ask for confirmation."`
	asked
}

// Help returns the text above the flags.
func (*pullCommand) Help() string { return folderServer }

// folderServer is the part of the help that explains the server in agent.yaml.
const folderServer = "If neither a flag nor a variable sets the server, the field server of agent.yaml is used. " +
	"It applies only if one of your profiles has the same server, so that a folder from somebody else cannot send your token elsewhere."

// synced is the JSON output of pull and push.
type synced struct {
	Agent    string   `json:"agent"`
	Revision int64    `json:"revision"`
	Changed  []string `json:"changed"` // paths of the files that were written
}

func (c *pullCommand) run(ctx context.Context, p Process) error {
	if c.JSON && !c.Yes {
		return misusedf("--json requires --yes")
	}
	address, err := agents.ServerOf(os.DirFS(c.Dir))
	if err != nil {
		return err
	}
	return c.withFolder(ctx, p, address, func(server *client) (err error) {
		kept, err := fetchAgent(ctx, server, c.Agent)
		if err != nil {
			return err
		}
		wanted, err := kept.folder()
		if err != nil {
			return err
		}
		if err := os.MkdirAll(c.Dir, 0o755); err != nil {
			return err
		}
		root, err := os.OpenRoot(c.Dir) // The root prevents that links in the folder lead outside of the folder.
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, root.Close()) }()
		there, err := agentFiles(root.FS())
		if err != nil {
			return err
		}
		if _, isAgent := there["agent.yaml"]; !isAgent && len(there) > 0 {
			return misusedf("%s has files but no agent.yaml; pull would delete these files; choose another folder", c.Dir)
		}
		local := maps.Clone(wanted)
		if local[registry.SettingsFile], err = agents.WithServer(wanted[registry.SettingsFile], address); err != nil {
			return err
		}
		if ok, err := c.agreed(p, c.Yes, there, local); err != nil {
			return err
		} else if ok {
			if err := writeFolder(root, there, local); err != nil {
				return err
			}
		}
		schema, err := agents.SettingsSchema()
		if err != nil {
			return err
		}
		if err := errors.Join(replace(root, agents.SchemaFile, schema), base{kept.id, kept.revision, wanted}.write(root)); err != nil {
			return err
		}
		return c.result(p, synced{kept.name, kept.revision, append([]string{}, changed(there, local)...)}, func() error { return nil })
	})
}

// agreed prints the changes and asks for confirmation, unless yes is set. If there are no differences, it returns
// false. If the user does not confirm, it returns an error.
func (o printed) agreed(p Process, yes bool, from, to map[string]registry.File) (bool, error) {
	if len(changed(from, to)) == 0 {
		_, _ = fmt.Fprintln(p.Stderr, "no differences")
		return false, nil
	}
	showChanges(o.people(p), from, to)
	if yes {
		return true, nil
	}
	_, _ = fmt.Fprint(p.Stderr, "Write these changes? [y/N] ")
	answer, _ := bufio.NewReader(p.Stdin).ReadString('\n') // A missing answer means no.
	if strings.EqualFold(strings.TrimSpace(answer), "y") {
		return true, nil
	}
	return false, fmt.Errorf("nothing was written")
}

// people returns the stream for text that people read. It is stdout, or stderr if JSON is printed on stdout.
func (o printed) people(p Process) io.Writer {
	if o.JSON {
		return p.Stderr
	}
	return p.Stdout
}

// agentFiles returns the files of a folder that belong to an agent. It skips names that start with a dot and the example
// input.
func agentFiles(folder fs.FS) (map[string]registry.File, error) {
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

// writeFolder changes a folder so that it contains the wanted files. It replaces each changed file by a new one, so that
// links are not followed.
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
	Dir   string `arg:"" help:"Folder with agent.yaml and code." type:"existingdir"`
	Yes   bool   `short:"y" help:"Do not ask for confirmation."`
	Force bool   `help:"Overwrite a draft that was saved since the folder was pulled. The replaced draft stays in the history."`
	asked
}

// Help returns the text above the flags.
func (*pushCommand) Help() string {
	return "Files whose names start with a dot are skipped. Pull and push record the revision of the draft in " + baseFile + ". If the draft was saved since then, push prints the changes of both sides " +
		"by file, saves nothing and exits with 5. Then pull the draft into another folder and merge, or use --force. " +
		"Without " + baseFile + ", push -y does not overwrite the draft of an existing agent. " +
		"`atelier history` lists and restores replaced drafts. Exit codes: 0 the draft is saved or has no differences, 1 failed, 2 wrong usage, 3 refused, 4 no access to the server, 5 the draft was saved since the pull.\n\n" + folderServer
}

func (c *pushCommand) run(ctx context.Context, p Process) (err error) {
	if c.JSON && !c.Yes {
		return misusedf("--json requires --yes")
	}
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
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
	return c.withFolder(ctx, p, folder.Server, func(server *client) error {
		kept, err := fetchAgent(ctx, server, *folder.Agent.Name)
		isNew := fault.Is(err, fault.NotFound)
		if err != nil && !isNew {
			return err
		}
		before := map[string]registry.File{}
		if !isNew {
			if before, err = kept.folder(); err != nil {
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
		if !isNew && !c.Force {
			if err := c.fresh(p, root.FS(), kept, before, wanted); err != nil {
				return err
			}
		}
		ok, err := c.agreed(p, c.Yes, before, wanted)
		if err != nil {
			return err
		}
		if !ok {
			return errors.Join(base{kept.id, kept.revision, before}.write(root), c.result(p, synced{kept.name, kept.revision, []string{}}, func() error { return nil }))
		}
		method, path, match := http.MethodPost, "/api/v1/code-agents", map[string]string{}
		if !isNew {
			method, path = http.MethodPut, agentPath(kept.id)
			match["If-Match"] = strconv.Quote(strconv.FormatInt(kept.revision, 10))
		}
		var whole wireAgent
		err = server.exchange(ctx, method, path, sent, match, into(&whole))
		if fault.Is(err, fault.StaleDraft) { // Another client saved the draft while the differences were shown.
			_, _ = fmt.Fprintln(p.Stderr, "atelier: "+lines(sentence(err)))
			return exit{stale}
		}
		if err != nil {
			return err
		}
		saved, err := keptOf(whole)
		if err != nil {
			return err
		}
		now, err := saved.folder()
		if err != nil {
			return err
		}
		return errors.Join(base{saved.id, saved.revision, now}.write(root), c.result(p, synced{saved.name, saved.revision, changed(before, wanted)}, func() error { return nil }))
	})
}

// fresh returns an error if the draft was saved after the folder was pulled, and prints the changes of both sides. If
// the folder has no base file, the result depends on -y: with -y, fresh refuses the push; without -y, push shows the
// differences and asks.
func (c *pushCommand) fresh(p Process, folder fs.FS, kept keptAgent, theirs, yours map[string]registry.File) error {
	from, known, err := readBase(folder, kept.id)
	if err != nil {
		return err
	}
	switch {
	case sameFiles(theirs, yours), known && (from.Revision == kept.revision || sameFiles(from.Files, theirs)):
		return nil
	case known:
		showThreeWay(c.people(p), from.Files, yours, theirs)
		_, _ = fmt.Fprintf(p.Stderr, "atelier: The draft was saved since this folder was pulled: %s. The folder comes from revision %d. "+
			"Pull it into another folder and merge, or push with --force.\n", lines(kept.saved()), from.Revision)
		return exit{stale}
	case !c.Yes:
		return nil // The function agreed will print the differences and ask.
	}
	showChanges(c.people(p), theirs, yours)
	_, _ = fmt.Fprintf(p.Stderr, "atelier: The folder has no %s for this agent, so push -y cannot tell whether it would overwrite a newer draft (%s). "+
		"Pull the agent first, push without -y, or push with --force.\n", baseFile, lines(kept.saved()))
	return exit{stale}
}

// keptAgent is an agent on a server. fields contains the JSON fields that PUT accepts, by their names.
type keptAgent struct {
	id, name string
	revision int64
	savedAt  time.Time
	savedBy  string
	fields   map[string]json.RawMessage
}

// saved describes the draft with its revision, the person who saved it, and the time.
func (k keptAgent) saved() string {
	return fmt.Sprintf("revision %d, by %s at %s", k.revision, k.savedBy, k.savedAt.Local().Format(time.DateTime))
}

// folder returns the agent as the files of a folder.
func (k keptAgent) folder() (map[string]registry.File, error) {
	var in agents.Input
	if err := assemble(k.fields, &in); err != nil {
		return nil, err
	}
	return agents.FolderOf(in)
}

// wireAgent is an agent in the form of the server's answer.
type wireAgent struct {
	ID, Name, Title, Description string
	Tags                         []string
	Metadata                     json.RawMessage
	Draft                        map[string]json.RawMessage
}

func fetchAgent(ctx context.Context, server *client, name string) (keptAgent, error) {
	var whole wireAgent
	if err := server.call(ctx, http.MethodGet, agentPath(name), nil, &whole); err != nil {
		return keptAgent{}, err
	}
	return keptOf(whole)
}

// keptOf reads an agent from the server's answer.
func keptOf(whole wireAgent) (keptAgent, error) {
	kept := keptAgent{id: whole.ID, name: whole.Name, fields: whole.Draft}
	var by struct{ Name string }
	if err := errors.Join(json.Unmarshal(whole.Draft["revision"], &kept.revision), json.Unmarshal(whole.Draft["savedAt"], &kept.savedAt),
		json.Unmarshal(whole.Draft["savedBy"], &by)); err != nil {
		return keptAgent{}, fmt.Errorf("read the server's answer: %w", err)
	}
	kept.savedBy = by.Name
	for _, field := range []string{"revision", "savedAt", "savedBy"} { // These fields belong to the draft, but PUT does not accept them.
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

// laidOver returns the body of a push. It contains the server's fields, which the fields of the folder replace. If the
// folder does not set a limit, the server's value stays.
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

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	folders "github.com/atelier-run/atelier/registry/skills"
	"github.com/atelier-run/atelier/runtimes"
)

type skillsCommand struct {
	List      skillsList      `cmd:"" help:"List skills with origin and digest, and errors in skill folders."`
	Install   skillsInstall   `cmd:"" help:"Install a skill from a folder, a .tar.gz file or its URL, or reinstall one by name."`
	Uninstall skillsUninstall `cmd:"" help:"Uninstall a skill. Its versions are kept."`
	Promote   skillsPromote   `cmd:"" help:"Publish a skill's draft as its next version."`
	Check     skillsCheck     `cmd:"" help:"Check a skill folder without a server."`
	Schema    skillsSchema    `cmd:"" help:"Print the JSON Schema of skill.yaml, for editors."`
}

// installedSkill is a skill in the form of the server's answer.
type installedSkill struct {
	Name, Version, Digest, Origin, Source, State string
	Error                                        *struct {
		Message string
		Details []fault.Detail
	}
}

type skillsList struct{ asked }

func (c *skillsList) run(ctx context.Context, p Process) error {
	return c.with(ctx, p, func(server *client) error {
		var answer struct{ Skills, Drafts []json.RawMessage }
		if err := server.call(ctx, http.MethodGet, "/v1/skills", nil, &answer); err != nil {
			return err
		}
		found := append(append([]json.RawMessage{}, answer.Skills...), answer.Drafts...)
		return c.result(p, found, func() error { return printSkills(p, found) })
	})
}

// printSkills prints each skill once, and its errors.
func printSkills(p Process, found []json.RawMessage) error {
	skills := make([]installedSkill, len(found))
	for i, text := range found {
		if err := read(text, &skills[i]); err != nil {
			return err
		}
	}
	listed := map[string]bool{}
	t := newTable(p.Stdout, "NAME", "VERSION", "STATE", "ORIGIN", "DIGEST")
	for _, s := range skills {
		if !listed[s.Name] {
			t.row(s.Name, or(s.Version, "-"), s.State, s.Origin, or(s.Digest[:min(len(s.Digest), 19)], "-"))
		}
		listed[s.Name] = true
	}
	if err := t.flush(); err != nil {
		return err
	}
	reported := map[string]bool{}
	for _, s := range skills {
		if s.Error == nil || reported[s.Name] {
			continue
		}
		reported[s.Name] = true
		text := "\n" + s.Name + ": " + s.Error.Message
		for _, d := range s.Error.Details {
			text += "\n  " + place(d) + d.Message
		}
		_, _ = fmt.Fprintln(p.Stderr, lines(text))
	}
	return nil
}

type skillsInstall struct {
	From string `arg:"" help:"Source: a folder, a .tar.gz file, its URL, - for a .tar.gz file on stdin, or the name of an installed skill."`
	asked
}

func (c *skillsInstall) run(ctx context.Context, p Process) error {
	body, headers, err := c.body(p)
	if err != nil {
		return err
	}
	archive, isArchive := body.(io.ReadCloser)
	if isArchive {
		defer func() { _ = archive.Close() }() // The archive was only read, so an error of Close has no effect.
	}
	return c.with(ctx, p, func(server *client) (err error) {
		var answer json.RawMessage
		if isArchive {
			err = server.transfer(ctx, http.MethodPost, "/v1/skills/install", io.NopCloser(archive), headers, into(&answer))
		} else {
			err = server.call(ctx, http.MethodPost, "/v1/skills/install", body, &answer)
		}
		if err != nil {
			return err
		}
		return c.print(p, answer, func(json.RawMessage) error {
			var made installedSkill
			if err := read(answer, &made); err != nil {
				return err
			}
			return p.print(made.Name + "@" + made.Version + " " + made.Digest)
		})
	})
}

// body returns the body of the request: the files of a folder, the bytes of an archive, an address or a name.
func (c *skillsInstall) body(p Process) (any, map[string]string, error) {
	if c.From == "-" {
		return io.NopCloser(p.Stdin), map[string]string{"Content-Type": "application/gzip"}, nil
	}
	if strings.HasPrefix(c.From, "http://") || strings.HasPrefix(c.From, "https://") {
		return map[string]string{"url": c.From}, nil, nil
	}
	info, err := os.Stat(c.From)
	switch {
	case errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(c.From, "/."):
		return map[string]string{"name": c.From}, nil, nil
	case err != nil:
		return nil, nil, misusedf("no folder, archive or skill named %s", c.From)
	case !info.IsDir():
		file, err := os.Open(c.From)
		return file, map[string]string{"Content-Type": "application/gzip"}, err
	}
	root, err := os.OpenRoot(c.From) // The root prevents that links in the folder lead outside of the folder.
	if err != nil {
		return nil, nil, err
	}
	files, err := folders.ReadFolder(folders.Dir(root, "."))
	if err == nil {
		_, err = folders.Parse(files)
	}
	return map[string]any{"files": files}, nil, errors.Join(err, root.Close())
}

type skillsUninstall struct {
	Name  string `arg:"" help:"Name of the skill."`
	Force bool   `help:"Uninstall even if others reference a version."`
	asked
}

func (c *skillsUninstall) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodPost, "/v1/skills/uninstall", map[string]any{"name": c.Name, "force": c.Force}, func(json.RawMessage) error { return nil })
}

type skillsPromote struct {
	Name      string `arg:""`
	Number    string `name:"as" field:"version" help:"Version number (default: the number suggested from the changes)." placeholder:"VERSION"`
	Changelog string `help:"Description of the changes."`
	Comment   string `help:"Reason for a smaller version number than suggested."`
	asked
}

func (c *skillsPromote) run(ctx context.Context, p Process) error {
	body := map[string]string{"name": c.Name, "version": c.Number, "changelog": c.Changelog, "comment": c.Comment}
	return c.ask(ctx, p, http.MethodPost, "/v1/skills/promote", body, func(answer json.RawMessage) error {
		var made struct{ Reference, Digest string }
		if err := read(answer, &made); err != nil {
			return err
		}
		return p.print(made.Reference + " " + made.Digest)
	})
}

type skillsCheck struct {
	Dir string `arg:"" help:"Folder of a skill." type:"existingdir"`
	printed
}

// run performs the checks that a server makes on the folder of a skill, except for the checks of the code. The code can
// only be parsed in the sandbox of a server.
func (c *skillsCheck) run(_ context.Context, p Process) (err error) {
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	files, err := folders.ReadFolder(folders.Dir(root, "."))
	if err != nil {
		return err
	}
	skill, err := folders.Parse(files)
	if err != nil {
		return err
	}
	checked := struct {
		Name     string            `json:"name"`
		Version  string            `json:"version"`
		Language runtimes.Language `json:"language"`
		Files    int               `json:"files"`
		Warnings []fault.Detail    `json:"warnings"`
	}{skill.Settings.Name, skill.Settings.Version, skill.Spec.Language, len(skill.Spec.Files), append([]fault.Detail{}, skill.Warnings...)}
	return c.result(p, checked, func() error {
		for _, w := range skill.Warnings {
			_, _ = fmt.Fprintln(p.Stderr, lines("note: "+place(w)+w.Message))
		}
		return p.print(fmt.Sprintf("%s@%s: %s in %s", checked.Name, checked.Version, counted(checked.Files, "file"), checked.Language))
	})
}

type skillsSchema struct{ printed }

func (skillsSchema) run(_ context.Context, p Process) error {
	text, err := folders.Schema()
	if err == nil {
		_, err = fmt.Fprintln(p.Stdout, string(text))
	}
	return err
}

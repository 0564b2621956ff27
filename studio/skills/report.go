package skills

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"time"

	"github.com/atelier-run/atelier/registry"
	folders "github.com/atelier-run/atelier/registry/skills"
)

// reportFile lists the installed skills for people who read the directory. The server writes this file and never reads
// it.
const reportFile = "installed.json"

// installed is one skill of the report.
type installed struct {
	Name        string    `json:"name"`
	Version     string    `json:"version"` // number of the latest version; "" for a skill with only a draft
	Digest      string    `json:"digest"`
	Origin      string    `json:"origin"`
	Source      string    `json:"source,omitempty"`
	State       string    `json:"state"` // one of active, draft, active_with_draft
	InstalledAt time.Time `json:"installed_at"`
	InstalledBy string    `json:"installed_by"`
	Error       string    `json:"error,omitempty"`
}

// report writes installed.json. If it fails, it logs the error; the installed skills are not affected.
func (s *Service) report(ctx context.Context) {
	s.reporting.Lock()
	defer s.reporting.Unlock()
	entries, err := s.List(ctx, systemActor())
	if err != nil {
		if ctx.Err() == nil {
			s.Log.LogAttrs(ctx, slog.LevelWarn, "list skills for "+reportFile, slog.Any("error", err))
		}
		return
	}
	all := []installed{}
	for _, e := range entries {
		one := installed{Name: e.Name, Origin: string(e.Origin), Source: e.Source, State: State(e), InstalledAt: e.InstalledAt, InstalledBy: e.Installer.Name}
		if e.Version != nil {
			one.Version, one.Digest = e.Version.Version, e.Version.Digest
		}
		if e.Problem != nil {
			one.Error = e.Problem.Message
			if len(e.Problem.Details) > 0 {
				one.Error = e.Problem.Details[0].File + ": " + e.Problem.Details[0].Message
			}
		}
		all = append(all, one)
	}
	text, err := json.MarshalIndent(map[string]any{"skills": all}, "", "  ")
	if err == nil {
		text = append(text, '\n')
		if before, readErr := s.root.ReadFile(reportFile); readErr == nil && bytes.Equal(before, text) {
			return
		}
		err = s.replaceFile(reportFile, text)
	}
	if err != nil {
		s.Log.LogAttrs(ctx, slog.LevelWarn, "write "+reportFile, slog.Any("error", err))
	}
}

// State returns the state of a skill as one word.
func State(e Entry) string {
	switch {
	case e.Version == nil && e.Drafted:
		return "draft"
	case e.Version == nil:
		return "broken"
	case e.Drafted:
		return "active_with_draft"
	}
	return "active"
}

func (s *Service) replaceFile(name string, content []byte) error {
	next := "." + name + ".next"
	err := s.root.WriteFile(next, content, 0o600)
	if err == nil {
		err = s.root.Rename(next, name)
	}
	return err
}

// writeBack writes a skill as a folder from which the skill could be loaded again.
func (s *Service) writeBack(ctx context.Context, folder string, settings folders.Settings, spec registry.Spec, actor registry.Actor) {
	files, err := folders.FolderOf(settings, spec.InputSchema, spec.OutputSchema, spec.Files)
	if err != nil {
		s.Log.LogAttrs(ctx, slog.LevelWarn, "write a skill's folder", slog.String("folder", folder), slog.Any("error", err))
		return
	}
	s.writeFolder(ctx, folder, files, actor)
}

// writeFolder replaces a folder. It writes a new folder next to the old one and then exchanges the two. Skills of other
// workspaces are not written, because the directory belongs to the default workspace. A failure is only logged, because
// the content in the database is the valid one.
func (s *Service) writeFolder(ctx context.Context, folder string, files map[string]registry.File, actor registry.Actor) {
	if actor.Workspace != registry.DefaultWorkspace {
		return
	}
	next := path.Join(path.Dir(folder), "."+path.Base(folder)+".next")
	err := s.root.RemoveAll(next)
	if err == nil {
		err = s.root.MkdirAll(next, 0o755)
	}
	if err == nil {
		err = s.root.WriteFile(path.Join(next, ours), []byte("Atelier wrote this folder for a client. It is overwritten with the skill's next version and removed with the skill.\n"), 0o644)
	}
	for name, content := range files {
		if err == nil {
			err = s.root.MkdirAll(path.Join(next, path.Dir(name)), 0o755)
		}
		if err == nil {
			err = s.root.WriteFile(path.Join(next, name), content, 0o644)
		}
	}
	if err == nil {
		err = s.root.RemoveAll(folder)
	}
	if err == nil {
		err = s.root.Rename(next, folder)
	}
	if err != nil {
		err = errors.Join(err, s.root.RemoveAll(next))
		s.Log.LogAttrs(ctx, slog.LevelWarn, "write a skill's folder", slog.String("folder", folder), slog.Any("error", err))
	}
}

// describe adds skill.yaml and schema.json to a folder that a person has written. It does not change existing files.
func (s *Service) describe(ctx context.Context, folder string, files map[string]registry.File, actor registry.Actor) {
	if actor.Workspace != registry.DefaultWorkspace {
		return
	}
	if _, err := s.root.Lstat(path.Join(folder, folders.SettingsFile)); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, name := range []string{folders.SchemaFile, folders.SettingsFile} {
		file, err := s.root.OpenFile(path.Join(folder, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			_, err = file.Write(files[name])
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			s.Log.LogAttrs(ctx, slog.LevelWarn, "write into a skill's folder", slog.String("folder", folder), slog.String("file", name), slog.Any("error", err))
			return
		}
	}
}

// ours is the file that marks a folder as written for a client. A folder without this file belongs to a person.
const ours = ".written-by-atelier"

// writable reports whether the server may write a folder. It may if the folder does not exist or was written for a
// client, because the folder of a person must not be changed.
func (s *Service) writable(folder string) bool {
	_, err := s.root.Lstat(folder)
	return errors.Is(err, fs.ErrNotExist) || s.isOurs(folder)
}

func (s *Service) isOurs(folder string) bool {
	info, err := s.root.Lstat(path.Join(folder, ours))
	return err == nil && info.Mode().IsRegular()
}

// discard removes a folder that was written for a client. It removes no other folder.
func (s *Service) discard(ctx context.Context, folder string, actor registry.Actor) {
	if actor.Workspace != registry.DefaultWorkspace || !s.isOurs(folder) {
		return
	}
	if err := s.root.RemoveAll(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.Log.LogAttrs(ctx, slog.LevelWarn, "remove a skill's folder", slog.String("folder", folder), slog.Any("error", err))
	}
}

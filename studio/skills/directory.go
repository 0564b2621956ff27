package skills

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	folders "github.com/atelier-run/atelier/registry/skills"
	"github.com/atelier-run/atelier/runtimes/inspect"
)

// draftsDir is the folder that contains the folders of drafts. The folders of active skills are next to it.
const draftsDir = "_drafts"

// Builtin contains the skill folders that are part of the server; nil if there are none.
type Builtin fs.FS

// maxFolders is the maximum number of skills in a directory.
const maxFolders = 2000

// loadBuiltin loads the built-in skills. An error can only be a bug of the server, so it is logged and the other skills
// are loaded.
func (s *Service) loadBuiltin(ctx context.Context) {
	if s.Builtin == nil {
		return
	}
	names, err := fs.ReadDir(s.Builtin, ".")
	if err != nil {
		s.Log.LogAttrs(ctx, slog.LevelError, "read the shipped skills", slog.Any("error", err))
		return
	}
	in := s.newIntake(ctx, registry.BuiltinSkill, func(name string, err error) {
		if err != nil && ctx.Err() == nil {
			s.complain(ctx, "built-in "+name, err)
		}
	})
	for _, entry := range names {
		if entry.IsDir() && candidate(entry.Name()) {
			folder, err := fs.Sub(s.Builtin, entry.Name())
			in.offer(ctx, folder, entry.Name(), err)
		}
	}
	in.take(ctx)
}

// loadAll loads every folder of the directory, drafts last. It removes the stored problems of folders that no longer
// exist.
func (s *Service) loadAll(ctx context.Context) {
	active, drafts := s.candidates(ctx, "."), s.candidates(ctx, draftsDir)
	there, all := map[string]bool{}, map[string]bool{}
	for _, name := range active {
		there[registry.NameKey(name)], all[name] = true, true
	}
	for i, name := range drafts {
		drafts[i] = draftsDir + "/" + name
		all[drafts[i]] = true
	}
	s.mu.Lock()
	maps.DeleteFunc(s.folders, func(key string, _ bool) bool { return !there[key] })
	maps.DeleteFunc(s.problems, func(folder string, _ *Trouble) bool { return !all[folder] })
	s.mu.Unlock()
	in := s.newIntake(ctx, registry.FolderSkill, func(folder string, err error) { s.conclude(ctx, folder, err) })
	for _, folder := range active {
		if gone, err := s.lies(folder); gone {
			s.settle(folder, nil)
		} else {
			in.offer(ctx, folders.Dir(s.root, folder), folder, err)
		}
	}
	in.take(ctx)
	for _, folder := range drafts {
		s.load(ctx, folder)
	}
}

// candidates lists the folders in dir that may be skills.
func (s *Service) candidates(ctx context.Context, dir string) []string {
	entries, err := fs.ReadDir(s.root.FS(), dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.Log.LogAttrs(ctx, slog.LevelWarn, "read the skills directory", slog.Any("error", err))
	}
	var names []string
	for _, e := range entries {
		if candidate(e.Name()) && !e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	if len(names) > maxFolders {
		s.Log.LogAttrs(ctx, slog.LevelWarn, "the skills directory has too many folders; the last ones are ignored", slog.Int("folders", len(names)), slog.Int("read", maxFolders))
		names = names[:maxFolders]
	}
	return names
}

// candidate reports whether a folder name may be the name of a skill.
func candidate(name string) bool {
	return !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "_")
}

// load reads the folder NAME or _drafts/NAME again and stores its problems. It returns no error, because an invalid
// folder affects neither other folders nor the skill that was installed from it before.
func (s *Service) load(ctx context.Context, folder string) {
	gone, err := s.lies(folder)
	switch {
	case gone:
		s.settle(folder, nil)
		return
	case err != nil:
	case path.Dir(folder) == draftsDir && s.Replicas:
		err = s.refuseDraft(folder)
	case path.Dir(folder) == draftsDir:
		err = s.loadDraft(ctx, folder)
	default:
		err = s.loadFolder(ctx, folder)
	}
	s.conclude(ctx, folder, err)
}

// lies checks whether a folder exists, and records the result. gone is true if the folder does not exist.
func (s *Service) lies(folder string) (gone bool, err error) {
	info, err := s.root.Lstat(folder)
	there := err == nil && info.IsDir()
	if path.Dir(folder) == "." {
		s.mu.Lock()
		s.folders[registry.NameKey(folder)] = there
		s.mu.Unlock()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err == nil && !there {
		err = &fault.Error{Code: fault.InvalidInput, Message: "The skill is not valid.", Details: []fault.Detail{{Message: "must be a folder; links and devices are not followed."}}}
	}
	return false, err
}

// conclude records whether a folder was loaded, or the problem that prevented it.
func (s *Service) conclude(ctx context.Context, folder string, err error) {
	if ctx.Err() != nil {
		return // The server is stopping, so the error says nothing about the folder.
	}
	if err == nil {
		s.settle(folder, nil)
		return
	}
	s.settle(folder, s.complain(ctx, folder, err))
}

// settle stores the problem of a folder. If p is nil, it removes the stored problem.
func (s *Service) settle(folder string, p *Trouble) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p == nil {
		delete(s.problems, folder)
		return
	}
	s.problems[folder] = p
}

// complain logs the problems of a folder with file and line. It also returns them.
func (s *Service) complain(ctx context.Context, folder string, err error) *Trouble {
	f := faultOf(err)
	p := &Trouble{Folder: folder, Message: f.Message, Details: []fault.Detail{}, At: s.Now()}
	for _, d := range f.Details {
		d.File = path.Join(folder, d.File)
		p.Details = append(p.Details, d)
	}
	attrs := []slog.Attr{slog.String("folder", folder)}
	if f.Code == fault.Internal {
		attrs = append(attrs, slog.Any("error", err))
	} else {
		attrs = append(attrs, slog.String("reason", f.Message))
	}
	for i, d := range p.Details {
		attrs = append(attrs, slog.String(fmt.Sprintf("at_%d", i+1), fmt.Sprintf("%s:%d: %s", d.File, d.Line, d.Message)))
	}
	s.Log.LogAttrs(ctx, slog.LevelWarn, "a skill folder has errors; its installed version still runs", attrs...)
	return p
}

// loadFolder publishes the version that a folder contains, if it is not published yet.
func (s *Service) loadFolder(ctx context.Context, name string) error {
	sk, err := read(folders.Dir(s.root, name), name)
	if err != nil {
		return err
	}
	return s.enter(ctx, sk, name, registry.FolderSkill, nil)
}

// enter installs the skill of a folder and logs the changes.
func (s *Service) enter(ctx context.Context, sk folders.Skill, folder string, origin registry.SkillOrigin, seen *inspect.Result) error {
	if known, err := s.any(ctx, systemActor(), sk.Settings.Name); err == nil && known.Uninstalled {
		return nil // The database decides whether a skill is installed: an uninstalled skill stays uninstalled until somebody installs it again.
	}
	v, fresh, err := s.take(ctx, systemActor(), sk, registry.Skill{Origin: origin}, seen)
	if err != nil || !fresh {
		return err
	}
	s.Log.LogAttrs(ctx, slog.LevelInfo, "skill loaded", slog.String("skill", v.Reference()), slog.String("digest", v.Digest), slog.String("origin", string(origin)))
	for _, w := range sk.Warnings {
		s.Log.LogAttrs(ctx, slog.LevelInfo, "skill.yaml has fields that are ignored", slog.String("at", fmt.Sprintf("%s/%s:%d: %s", folder, w.File, w.Line, w.Message)))
	}
	return nil
}

// read reads a folder. The folder must have the name of its skill, so that two folders cannot contain the same skill.
func read(folder fs.FS, name string) (folders.Skill, error) {
	files, err := folders.ReadFolder(folder)
	if err != nil {
		return folders.Skill{}, err
	}
	sk, err := folders.Parse(files)
	if err != nil {
		return sk, err
	}
	if registry.NameKey(sk.Settings.Name) != registry.NameKey(name) {
		f := fault.New(fault.InvalidInput, "The skill is not valid.")
		f.Details = []fault.Detail{{File: folders.SettingsFile, Line: sk.Line("/name"), Message: "is " + sk.Settings.Name + ", but the folder is " + shown(name) + "; both must be equal."}}
		return sk, f
	}
	return sk, nil
}

// loadDraft saves a folder of _drafts as the draft of its skill, if the folder and the draft differ.
func (s *Service) loadDraft(ctx context.Context, folder string) error {
	sk, known, seen, err := s.differing(ctx, folder)
	if err != nil || seen == nil {
		return err
	}
	if err := s.judge(sk, s.Agents.Inspect(ctx, systemActor(), programOf(sk))[0]); err != nil {
		return err
	}
	if _, err = s.draft(ctx, systemActor(), sk, known.Claims, *seen); fault.Is(err, fault.StaleDraft) {
		return nil // The draft was saved in the meantime. That save also writes the folder.
	}
	return err
}

// refuseDraft rejects a draft folder that a person has written while several servers share the database. Each server
// has its own directory, so the draft of another server may be newer. Folders that a server has written are ignored.
func (s *Service) refuseDraft(folder string) error {
	if s.isOurs(folder) {
		return nil
	}
	f := fault.New(fault.InvalidInput, "The folder is not read.")
	f.Details = []fault.Detail{{Message: "is a draft, but drafts in folders are ignored when several servers share the database. Save it with POST /v1/skills/create, or move it to " + base(folder) + " to publish it."}}
	return f
}

// differing reads a folder of _drafts and the draft of its skill. If the two differ, seen is the revision of the draft
// to replace, else nil. A save writes the draft and then its folder. differing must be called under the same lock, so
// that an old folder does not replace a new draft.
func (s *Service) differing(ctx context.Context, folder string) (sk folders.Skill, known registry.Skill, seen *registry.Seen, err error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	if sk, err = read(folders.Dir(s.root, folder), path.Base(folder)); err != nil {
		return sk, known, nil, err
	}
	found := registry.AnyRevision()
	known, err = s.any(ctx, systemActor(), sk.Settings.Name)
	switch {
	case err == nil && known.Uninstalled:
		return sk, known, nil, nil
	case err == nil && known.Drafted:
		a, err := s.Agents.Get(ctx, systemActor(), known.AgentID)
		if err != nil {
			return sk, known, nil, err
		}
		draft, err := a.DraftAt(registry.AnyRevision())
		if err != nil {
			return sk, known, nil, err
		}
		is := registry.Version{Agent: a.Name, Title: a.Title, Description: a.Description, Spec: draft.Spec}
		if is.Digest, err = s.Agents.DraftDigest(is); err != nil {
			return sk, known, nil, err
		}
		if s.compare(is, sk, known) == nil {
			return sk, known, nil, nil
		}
		found = registry.SeenRevision(draft.Revision)
	case err == nil && known.Published:
		v, err := s.Agents.Version(ctx, systemActor(), known.AgentID, registry.Latest)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return sk, known, nil, err
		}
		is := sk
		is.Settings.Changelog = v.Changelog
		if err == nil && s.compare(v, is, known) == nil {
			return sk, known, nil, nil // The draft was already promoted. Its folder belongs to a person and stays.
		}
	case err != nil && !fault.Is(err, fault.NotFound):
		return sk, known, nil, err
	}
	return sk, known, &found, nil
}

// base returns the last element of a folder's path, which is the name of the skill.
func base(folder string) string { return path.Base(folder) }

func sortedProblems(problems map[string]*Trouble) []*Trouble {
	all := make([]*Trouble, 0, len(problems))
	for _, folder := range slices.Sorted(maps.Keys(problems)) {
		all = append(all, problems[folder])
	}
	return all
}

func shown(name string) string { return fault.Shown(name, 80) }

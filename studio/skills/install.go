package skills

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	folders "github.com/atelier-run/atelier/registry/skills"
	"github.com/atelier-run/atelier/studio/agents"
)

// Source is the origin of an installation. One of the fields Name, Files, Archive and URL is set.
type Source struct {
	Name    string                   // name of an uninstalled skill or a skill folder, or NAME or PUBLISHER/NAME in the public registry
	Files   map[string]registry.File // files of a skill folder
	Archive []byte                   // tar archive, compressed with gzip
	URL     string                   // address of a tar archive that is compressed with gzip, on a granted host
	Label   string                   // name of the archive for display
}

// Install installs a skill. If the skill is already installed, Install changes nothing.
func (s *Service) Install(ctx context.Context, actor registry.Actor, from Source) (Entry, error) {
	if err := s.ready(ctx); err != nil {
		return Entry{}, err
	}
	if err := permitted(actor, "install"); err != nil {
		return Entry{}, err
	}
	if from.Name != "" {
		return s.reinstall(ctx, actor, from.Name)
	}
	how := registry.Skill{Origin: registry.ArchiveSkill, Source: from.Label}
	files, err := from.Files, error(nil)
	switch {
	case from.URL != "":
		how.Origin, how.Source = registry.URLSkill, shownAddress(from.URL)
		if from.Archive, err = s.Fetcher.Fetch(ctx, from.URL); err != nil {
			return Entry{}, err
		}
		files, err = folders.ReadArchive(bytes.NewReader(from.Archive))
	case len(from.Archive) > 0:
		files, err = folders.ReadArchive(bytes.NewReader(from.Archive))
	}
	if err != nil {
		return Entry{}, err
	}
	sk, err := folders.Parse(files)
	if err != nil {
		return Entry{}, err
	}
	if err := s.install(ctx, actor, sk, how); err != nil {
		return Entry{}, err
	}
	s.report(ctx)
	return s.Find(ctx, actor, sk.Settings.Name)
}

// shownAddress returns an address without its query, because the query often contains a signature or a token.
func shownAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

// install installs a skill. If the skill is uninstalled, install restores it, unless the new content is rejected.
func (s *Service) install(ctx context.Context, actor registry.Actor, sk folders.Skill, how registry.Skill) error {
	restored, err := s.restore(ctx, actor, sk.Settings.Name)
	if err != nil {
		return err
	}
	_, _, err = s.take(ctx, actor, sk, how, nil)
	if err == nil || restored == "" {
		return err
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	defer s.forget()
	if again := s.Agents.Delete(context.WithoutCancel(ctx), actor, restored, true, uninstalled); again != nil {
		return errors.Join(err, again)
	}
	return err
}

// uninstalled is the comment with which the agent of a skill is deleted when the skill is uninstalled.
const uninstalled = "uninstalled as a skill"

// permitted returns an error if the caller is anonymous. Anonymous callers must not change skills.
func permitted(actor registry.Actor, verb string) error {
	if actor.Type == registry.AnonymousActor {
		return fault.New(fault.Forbidden, "An anonymous caller can run skills but not %s them. Send Authorization: Bearer TOKEN (atelier token create NAME).", verb)
	}
	return nil
}

// reinstall restores an uninstalled skill and reads the folder with the skill's name again. If there is neither an
// uninstalled skill nor a folder, it looks the name up in the public registry.
func (s *Service) reinstall(ctx context.Context, actor registry.Actor, name string) (Entry, error) {
	asked := name
	publisher, own, qualified := strings.Cut(name, "/")
	if qualified {
		if err := registry.CheckName(publisher); err != nil {
			return Entry{}, err
		}
		name = own
	}
	if err := registry.CheckName(name); err != nil {
		return Entry{}, err
	}
	if qualified {
		if skill, err := s.any(ctx, actor, name); err == nil && !listedBy(skill, publisher) {
			return Entry{}, otherSkill(name)
		}
	}
	if _, err := s.restore(ctx, actor, name); err != nil {
		return Entry{}, err
	}
	if actor.Workspace == registry.DefaultWorkspace && !qualified {
		s.load(ctx, name)
	}
	s.report(ctx)
	entry, err := s.Find(ctx, actor, name)
	if p := s.problemsOf(actor)[registry.NameKey(name)]; fault.Is(err, fault.NotFound) && p != nil {
		return Entry{}, &fault.Error{Code: fault.InvalidInput, Message: p.Message, Details: p.Details}
	}
	if !fault.Is(err, fault.NotFound) {
		return entry, err
	}
	if s.Catalog != nil {
		listed, err := s.fromRegistry(ctx, actor, asked)
		if err == nil {
			s.report(ctx)
			return s.Find(ctx, actor, listed)
		}
		if !fault.Is(err, fault.NotFound) {
			return Entry{}, err
		}
	}
	return Entry{}, fault.New(fault.NotFound, "Skill %s not found: it was never installed, has no folder in the skills directory and is not in the registry. Send its files, an archive or the URL of one.", shown(asked))
}

// listedBy reports whether a skill was installed from a publisher of the public registry.
func listedBy(skill registry.Skill, publisher string) bool {
	return skill.Origin == registry.ListedSkill && strings.HasPrefix(skill.Source, publisher+"/")
}

// otherSkill returns the error for an agent of the registry whose name belongs to a skill with another origin.
func otherSkill(name string) error {
	return fault.New(fault.NameTaken, "Another skill is named %s. Send the files of the registry's skill under another name.", shown(name))
}

// fromRegistry installs the latest version of an agent of the public registry as a skill, with the same number and
// name. It returns the agent's current name, because the requested name may be a former one.
func (s *Service) fromRegistry(ctx context.Context, actor registry.Actor, name string) (string, error) {
	listed, v, err := s.Catalog.Named(ctx, name)
	if err != nil {
		return "", err
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	spec := v.Current()
	in := inputOf(folders.Skill{Spec: spec, Settings: folders.Settings{Name: listed.Name, Title: v.Title, Description: v.Description, Tags: listed.Tags}})
	in.Runtime, in.Isolation = &spec.Runtime, &spec.Isolation
	skill, err := s.any(ctx, actor, listed.Name)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return "", err
	}
	if err == nil && !listedBy(skill, listed.Publisher) {
		return "", otherSkill(listed.Name)
	}
	if err != nil {
		if _, err := s.Agents.Get(ctx, actor, listed.Name); err == nil {
			return "", fault.New(fault.NameTaken, "%s is an agent but not a skill. Rename it to install the skill %[1]s from the registry.", listed.Name)
		}
		a, err := s.Agents.Compose(ctx, actor, in)
		if err != nil {
			return "", err
		}
		a.Origin = &registry.Origin{AgentID: listed.ID, Name: listed.Name, Version: v.Version, Digest: v.Digest}
		skill = registry.Skill{AgentID: a.ID, Workspace: a.Workspace, Name: a.Name}
		skill.Origin, skill.Source, skill.InstalledAt, skill.Installer = registry.ListedSkill, listed.Publisher+"/"+v.Reference(), s.Now(), actor
		if err := s.Store.CreateSkill(ctx, a, skill); err != nil {
			return "", err
		}
	}
	s.forget()
	_, err = s.Agents.Release(ctx, actor, skill.AgentID, in, agents.PublishRequest{Version: v.Version, Changelog: v.Changelog})
	return listed.Name, err
}

// restore restores an uninstalled skill and returns the ID of its agent. If there is no such skill, it returns "".
func (s *Service) restore(ctx context.Context, actor registry.Actor, name string) (agentID string, err error) {
	skill, err := s.any(ctx, actor, name)
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	if err != nil || !skill.Uninstalled {
		return "", err
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	_, err = s.Agents.Restore(ctx, actor, skill.AgentID)
	s.forget()
	return skill.AgentID, err
}

// Uninstall uninstalls a skill. The versions, receipts and runs of the skill are kept. A folder that a person has
// written is kept; a folder that was written for a client is removed. While a pin references a version, the error is
// Conflict, unless Uninstall is forced.
func (s *Service) Uninstall(ctx context.Context, actor registry.Actor, name string, force bool) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	if err := permitted(actor, "uninstall"); err != nil {
		return err
	}
	skill, err := s.find(ctx, actor, name)
	if err != nil {
		return err
	}
	if err := s.remove(ctx, actor, skill, force); err != nil {
		return err
	}
	s.report(ctx)
	return nil
}

func (s *Service) remove(ctx context.Context, actor registry.Actor, skill registry.Skill, force bool) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if err := s.Agents.Delete(ctx, actor, skill.AgentID, force, uninstalled); err != nil {
		return err
	}
	s.forget()
	s.discard(ctx, skill.Name, actor)
	s.discard(ctx, draftsDir+"/"+skill.Name, actor)
	return nil
}

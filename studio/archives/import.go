package archives

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/archive"
)

// MaxUpload bounds an archive in bytes as it is sent.
const MaxUpload = 256 << 20

// Outcome says what became, or would become, of an agent of an archive.
type Outcome string

// The outcomes. An agent that is there keeps its draft and its description.
const (
	Created   Outcome = "created"
	Restored  Outcome = "restored" // it had been deleted
	Extended  Outcome = "extended" // it lacked versions
	Unchanged Outcome = "unchanged"
)

// Imported is one agent of an archive.
type Imported struct {
	Name    string  `json:"name"`
	Outcome Outcome `json:"outcome" enum:"created,restored,extended,unchanged"`
	Added   int     `json:"added" doc:"Versions that were not there."`
	Kept    int     `json:"kept" doc:"Versions that were there, with the same digest."`
}

// Import puts an archive's agents into the actor's workspace. All of it is checked before anything is written: a version that
// exists with another digest, a name that another agent has and a spec that this server would not save refuse the whole.
// A dry run writes nothing. Errors: InvalidInput, VersionExists, NameTaken; TooManyRequests while another import is at work.
func (s *Service) Import(ctx context.Context, actor registry.Actor, r io.Reader, dry bool) (report []Imported, err error) {
	if !s.importing.TryLock() {
		return nil, fault.New(fault.TooManyRequests, "Another archive is being imported; try again when it is done.")
	}
	defer s.importing.Unlock()
	file, err := spool(r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	check := &visit{service: s, ctx: ctx, actor: actor, report: []Imported{}}
	if err := archive.Read(file, check); err != nil || dry {
		return check.report, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	defer s.Resolver.Forget(actor.Workspace)
	write := &visit{service: s, ctx: ctx, actor: actor, report: []Imported{}, writing: true}
	err = archive.Read(file, write)
	return write.report, err
}

// spool keeps an upload in a file without a name, because it is read twice.
func spool(r io.Reader) (*os.File, error) {
	file, err := os.CreateTemp("", "atelier-archive-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	n, err := io.Copy(file, io.LimitReader(r, MaxUpload+1))
	if err == nil && n > MaxUpload {
		err = &fault.Error{Code: fault.BodyTooLarge, Message: "The archive is larger than this server takes.", Extra: map[string]any{"maxBytes": MaxUpload}}
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// visit meets an archive twice: first it only looks, then it writes.
type visit struct {
	service *Service
	ctx     context.Context //nolint:containedctx // a visitor is one call, and its methods are the archive's
	actor   registry.Actor
	writing bool
	report  []Imported

	agentID string
	known   map[string]string // digests of the agent's versions
}

// Agent implements archive.Visitor.
func (v *visit) Agent(a archive.Agent) error {
	s := v.service
	draft, err := s.Specs.Complete(a.Draft)
	if err != nil {
		return about(a.Name+", its draft", err)
	}
	if err := registry.CheckAbout(v.agent(a, draft)); err != nil {
		return about(a.Name, err)
	}
	existing, err := s.Agents.AnyAgent(v.ctx, v.actor.Workspace, a.Name)
	switch {
	case fault.Is(err, fault.NotFound):
		return v.create(a, draft)
	case err != nil:
		return err
	}
	v.agentID = existing.ID
	if v.known, err = s.Versions.VersionDigests(v.ctx, v.actor.Workspace, existing.ID); err != nil {
		return err
	}
	if existing.DeletedAt == nil {
		if registry.NameKey(existing.Name) != registry.NameKey(a.Name) {
			return fault.New(fault.NameTaken, "The agent %s had the name %s, and callers may still use it.", existing.Name, a.Name)
		}
		v.report = append(v.report, Imported{Name: a.Name, Outcome: Unchanged})
		return nil
	}
	v.report = append(v.report, Imported{Name: a.Name, Outcome: Restored})
	if !v.writing {
		return v.namesAreFree(a)
	}
	if err := s.Agents.ReviveAgent(v.ctx, v.agent(a, draft)); err != nil {
		return err
	}
	return s.Names.TakeNames(v.ctx, v.actor.Workspace, v.agentID, a.FormerNames)
}

func (v *visit) create(a archive.Agent, draft registry.Spec) error {
	s := v.service
	v.report = append(v.report, Imported{Name: a.Name, Outcome: Created})
	v.agentID, v.known = a.ID, map[string]string{}
	taken, err := s.Names.AgentIDTaken(v.ctx, a.ID)
	if err != nil {
		return err
	}
	if taken {
		v.agentID = s.NewID()
	}
	if !v.writing {
		return v.namesAreFree(a)
	}
	if err := s.Agents.CreateAgent(v.ctx, v.agent(a, draft)); err != nil {
		return err
	}
	return s.Names.TakeNames(v.ctx, v.actor.Workspace, v.agentID, a.FormerNames)
}

func (v *visit) namesAreFree(a archive.Agent) error {
	for _, name := range a.FormerNames {
		other, err := v.service.Agents.AnyAgent(v.ctx, v.actor.Workspace, name)
		if err == nil && other.ID != v.agentID {
			return fault.New(fault.NameTaken, "The archive gives %s the former name %s, which the agent %s has.", a.Name, name, other.Name)
		}
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	return nil
}

// agent is what is stored. It is not listed: that is a decision of this workspace.
func (v *visit) agent(a archive.Agent, draft registry.Spec) registry.Agent {
	now := v.service.Now()
	metadata := a.Metadata
	if len(metadata) == 0 || metadata[0] != '{' {
		metadata = json.RawMessage(`{}`)
	}
	return registry.Agent{
		ID: v.agentID, Workspace: v.actor.Workspace, Name: a.Name, Title: a.Title, Description: a.Description, Tags: a.Tags, Metadata: metadata,
		Draft: registry.Draft{Revision: 1, Spec: draft}, CreatedAt: a.CreatedAt, CreatedBy: a.Creator.ID,
		Creator:   registry.Actor{ID: a.Creator.ID, Type: a.Creator.Type, Name: a.Creator.Name, Workspace: v.actor.Workspace},
		UpdatedAt: now, Editor: v.actor,
	}
}

// Version implements archive.Visitor.
func (v *visit) Version(version registry.Version) error {
	now := &v.report[len(v.report)-1]
	if digest, exists := v.known[version.Version]; exists {
		if digest != version.Digest {
			return fault.New(fault.VersionExists, "%s exists with other content, and versions never change.", version.Reference())
		}
		now.Kept++
		return nil
	}
	if err := registry.CheckWords(version); err != nil {
		return about(version.Reference(), err)
	}
	// Checked, and stored as it came: what was completed would have another digest.
	if _, err := v.service.Specs.Complete(version.Spec); err != nil {
		return about(version.Reference(), err)
	}
	now.Added++
	if now.Outcome == Unchanged {
		now.Outcome = Extended
	}
	if !v.writing {
		return nil
	}
	version.ID, version.AgentID = v.service.NewID(), v.agentID
	version.Publisher.Workspace = v.actor.Workspace
	return v.service.Versions.InsertVersion(v.ctx, v.actor.Workspace, version)
}

// about says of which part of an archive a refusal speaks.
func about(what string, err error) error {
	var told *fault.Error
	if !errors.As(err, &told) {
		return err
	}
	changed := *told
	changed.Message = "The archive holds " + what + ", which this server does not take. " + told.Message
	return &changed
}

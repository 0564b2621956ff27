package archives

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/archive"
)

// MaxUpload is the maximum size of an uploaded archive in bytes.
const MaxUpload = 256 << 20

// Outcome is the result of importing one agent. In a dry run it is the expected result.
type Outcome string

// These are the outcomes. An agent that existed before the import keeps its draft and its description.
const (
	Created   Outcome = "created"
	Restored  Outcome = "restored" // the agent had been deleted before
	Extended  Outcome = "extended" // versions were added to the agent
	Unchanged Outcome = "unchanged"
)

// Imported is the result for one agent of an archive.
type Imported struct {
	Name    string  `json:"name"`
	Outcome Outcome `json:"outcome" enum:"created,restored,extended,unchanged"`
	Added   int     `json:"added" doc:"Imported versions."`
	Kept    int     `json:"kept" doc:"Versions that existed with the same digest."`
	Names   int     `json:"names" doc:"Imported former names."`
	Listed  bool    `json:"listed" doc:"true if the agent was listed in the public registry where the archive was written."`
}

// ImportRequest sets the options of an import. With DryRun, nothing is written. With Listed, agents that were listed in
// the public registry of the exporting server are listed here too.
type ImportRequest struct{ DryRun, Listed bool }

// Import imports an archive's agents into the actor's workspace. It checks the whole archive before it writes anything.
// It rejects the archive if a version exists with another digest, if a name belongs to another agent, or if this server
// would not save one of the specs.
//
// New and restored agents become visible together, after all data is written. If the import is interrupted, these
// agents stay hidden, and importing the same archive again continues the import. Existing agents get their missing
// versions one by one. Errors: BadRequest for an incomplete upload; InvalidInput; VersionExists; NameTaken;
// TooManyRequests if there are too many other uploads.
func (s *Service) Import(ctx context.Context, actor registry.Actor, r io.Reader, req ImportRequest) (report []Imported, err error) {
	if s.Quotas != nil && !req.DryRun {
		if err := s.Quotas.CheckAgentLimit(ctx, actor.Workspace); err != nil {
			return nil, err
		}
	}
	select {
	case s.uploads <- struct{}{}:
	default:
		return nil, fault.New(fault.TooManyRequests, "Other archives are being imported. Try again later.")
	}
	defer func() { <-s.uploads }()
	file, err := spool(r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	select {
	case s.importing <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-s.importing }()
	check := &visit{service: s, ctx: ctx, actor: actor, report: []Imported{}}
	if err := archive.Read(file, check); err != nil || req.DryRun {
		return check.report, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	defer s.Resolver.Forget(actor.Workspace)
	write := &visit{service: s, ctx: ctx, actor: actor, report: []Imported{}, writing: true}
	if err := archive.Read(file, write); err != nil {
		return nil, err
	}
	if !req.Listed {
		write.listed = nil
	}
	return write.report, s.Agents.RevealAgents(ctx, actor.Workspace, write.hidden, write.listed)
}

// spool stores an upload in an unnamed temporary file, because the archive is read twice.
func spool(r io.Reader) (*os.File, error) {
	file, err := os.CreateTemp("", "atelier-archive-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	n, err := io.Copy(file, io.LimitReader(arriving{r}, MaxUpload+1))
	if err == nil && n > MaxUpload {
		err = &fault.Error{Code: fault.BodyTooLarge, Message: "The archive is larger than this server allows.", Extra: map[string]any{"maxBytes": MaxUpload}}
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// arriving reads an upload. If the upload is incomplete, it returns a BadRequest instead of an internal error.
type arriving struct{ io.Reader }

// Read implements io.Reader.
func (a arriving) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &fault.Error{Code: fault.BadRequest, Message: "The archive is incomplete. Send it again.", Err: err}
	}
	return n, err
}

// visit processes the parts of an archive. An import makes two passes: the first pass only checks, the second one
// writes.
type visit struct {
	service *Service
	ctx     context.Context //nolint:containedctx // A visit lasts for one call, and the archive package defines the methods of a visitor.
	actor   registry.Actor
	writing bool
	report  []Imported

	hidden []string // IDs of agents that are written but not visible yet
	listed []string // IDs of agents that were listed on the exporting server

	agentID string
	known   map[string]string // digests of the agent's versions, by number
}

// Agent implements archive.Visitor.
func (v *visit) Agent(a archive.Agent) error {
	s := v.service
	if _, err := registry.CheckTests(a.Tests); err != nil {
		return about(a.Name, err)
	}
	draft, err := s.Specs.Complete(a.Draft.Current())
	if err != nil {
		return about(a.Name+", its draft", err)
	}
	if err := registry.CheckAbout(v.agent(a, draft)); err != nil {
		return about(a.Name, err)
	}
	existing, err := s.Agents.AnyAgent(v.ctx, v.actor.Workspace, a.Name)
	switch {
	case fault.Is(err, fault.NotFound):
		err = v.create(a, draft)
	case err != nil:
		return err
	default:
		err = v.meet(existing, a, draft)
	}
	if err != nil {
		return err
	}
	if a.Listed {
		v.listed = append(v.listed, v.agentID)
	}
	v.report[len(v.report)-1].Listed = a.Listed
	return v.claimNames(a)
}

// meet handles an agent of the archive that already exists in this workspace or was deleted from it.
func (v *visit) meet(existing registry.Agent, a archive.Agent, draft registry.Spec) (err error) {
	v.agentID = existing.ID
	if v.known, err = v.service.Versions.VersionDigests(v.ctx, v.actor.Workspace, existing.ID); err != nil {
		return err
	}
	if existing.DeletedAt == nil {
		if registry.NameKey(existing.Name) != registry.NameKey(a.Name) {
			return fault.New(fault.NameTaken, "The name %[2]s belongs to the agent %[1]s, whose callers may still use it.", existing.Name, a.Name)
		}
		v.report = append(v.report, Imported{Name: a.Name, Outcome: Unchanged})
		return nil
	}
	v.report = append(v.report, Imported{Name: a.Name, Outcome: Restored})
	if !v.writing {
		return nil
	}
	v.hidden = append(v.hidden, v.agentID)
	return v.service.Agents.RewriteAgent(v.ctx, v.agent(a, draft))
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
		return nil
	}
	v.hidden = append(v.hidden, v.agentID)
	return s.Agents.CreateAgent(v.ctx, v.agent(a, draft))
}

// claimNames adds former names from the archive to an agent that lacks them, because references may use these names.
func (v *visit) claimNames(a archive.Agent) error {
	has, err := v.service.Names.AgentNames(v.ctx, v.actor.Workspace, v.agentID)
	if err != nil {
		return err
	}
	var lacks []string
	for _, name := range a.FormerNames {
		if !slices.Contains(has, registry.NameKey(name)) {
			lacks = append(lacks, name)
		}
	}
	now := &v.report[len(v.report)-1]
	if now.Names = len(lacks); now.Names > 0 && now.Outcome == Unchanged {
		now.Outcome = Extended
	}
	if !v.writing {
		return v.namesAreFree(a)
	}
	return v.service.Names.ClaimNames(v.ctx, v.actor.Workspace, v.agentID, lacks)
}

func (v *visit) namesAreFree(a archive.Agent) error {
	for _, name := range a.FormerNames {
		other, err := v.service.Agents.AnyAgent(v.ctx, v.actor.Workspace, name)
		if err == nil && other.ID != v.agentID {
			return fault.New(fault.NameTaken, "The archive gives %s the former name %s, which belongs to the agent %s.", a.Name, name, other.Name)
		}
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	return nil
}

// agent returns the agent to store. The agent is hidden until the end of the import. It is not listed in the public
// registry, because that is a decision of this workspace.
func (v *visit) agent(a archive.Agent, draft registry.Spec) registry.Agent {
	now := v.service.Now()
	metadata := a.Metadata
	if len(metadata) == 0 || metadata[0] != '{' {
		metadata = json.RawMessage(`{}`)
	}
	agent := registry.Agent{
		ID: v.agentID, Workspace: v.actor.Workspace, Name: a.Name, Title: a.Title, Description: a.Description, Tags: a.Tags, Metadata: metadata,
		Draft: registry.FirstDraft(draft, v.actor, now), CreatedAt: a.CreatedAt, CreatedBy: a.Creator.ID,
		Creator:   registry.Actor{ID: a.Creator.ID, Type: a.Creator.Type, Name: a.Creator.Name, Workspace: v.actor.Workspace},
		UpdatedAt: now, Editor: v.actor, Origin: a.Origin,
		DeletedAt: &now, Deletion: registry.Deletion{By: v.actor.Name, Comment: "The import of this agent did not finish. Import the archive again."},
	}
	agent.Draft.Tests = a.Tests
	return agent
}

// Version implements archive.Visitor.
func (v *visit) Version(version registry.Version) error {
	now := &v.report[len(v.report)-1]
	if digest, exists := v.known[version.Version]; exists {
		if digest != version.Digest {
			return fault.New(fault.VersionExists, "%s exists with other content. Versions cannot change.", version.Reference())
		}
		now.Kept++
		return nil
	}
	if err := registry.CheckWords(version); err != nil {
		return about(version.Reference(), err)
	}
	if _, err := registry.CheckTests(version.Tests); err != nil {
		return about(version.Reference(), err)
	}
	// Complete is called only to check the version. The store gets the version exactly as it is in the archive, because a
	// completed version would have another digest.
	if _, err := v.service.Specs.Complete(version.Spec.Current()); err != nil {
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
	return v.service.Versions.ImportVersion(v.ctx, v.actor.Workspace, version)
}

// about adds the name of an agent or version to the message of an error.
func about(what string, err error) error {
	var told *fault.Error
	if !errors.As(err, &told) {
		return err
	}
	changed := *told
	changed.Message = "The archive contains " + what + ", which this server does not accept. " + told.Message
	return &changed
}

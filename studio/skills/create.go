package skills

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	folders "github.com/atelier-run/atelier/registry/skills"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/agents"
)

// Creation is a Python skill that a client wants to create. Often a model has written it.
type Creation struct {
	Name          string
	Description   string
	Code          string
	Triggers      []string
	DefaultParams json.RawMessage // default parameters as a JSON object, or empty
	Claims        json.RawMessage // the client's statements about the code; the server stores but never trusts them
	Promote       bool
	Seen          registry.Seen // revision of the draft that is replaced
}

// Created is the result of creating a skill.
type Created struct {
	Entry    Entry
	Promoted bool
	Blocked  bool // whether the code breaks the rules or has errors, so that the draft cannot be promoted
	Verdict  registry.Verdict
	Refused  *fault.Error // reason why the code is blocked or the promotion failed; the draft is stored nevertheless
	Warnings []fault.Detail
}

const (
	firstVersion = "1.0.0"
	handlerFile  = "handler.py"
)

// Create stores a skill as a draft under the rule pack "restricted". If the request asks for promotion and all checks
// pass, Create also promotes the draft. If a check fails, the result contains the reason. The versions of an existing
// skill are kept.
func (s *Service) Create(ctx context.Context, actor registry.Actor, c Creation) (Created, error) {
	if err := s.ready(ctx); err != nil {
		return Created{}, err
	}
	if err := permitted(actor, "create"); err != nil {
		return Created{}, err
	}
	w, err := s.written(ctx, actor, c)
	if err != nil {
		return Created{}, err
	}
	sk := w.skill
	revision, err := s.draft(ctx, actor, sk, c.Claims, c.Seen)
	if err != nil {
		return Created{}, err
	}
	created := Created{Warnings: w.warnings}
	if created.Verdict, err = s.Agents.Verdict(ctx, actor, sk.Settings.Name, registry.SeenRevision(revision)); err != nil {
		return Created{}, err
	}
	created.Blocked = len(w.broken) > 0 || created.Verdict.Decision == registry.Block
	switch {
	case created.Blocked:
		created.Refused = blocked(w.broken, created.Verdict)
	case c.Promote && created.Verdict.Decision == registry.Escalate:
		created.Refused = &fault.Error{Code: fault.PolicyBlocked, Message: "The gate requires a person to approve this skill before it becomes active."}
	case c.Promote:
		_, err := s.Promote(ctx, actor, Promotion{Name: sk.Settings.Name, Seen: registry.SeenRevision(revision)})
		if created.Refused = refusal(err); err != nil && created.Refused == nil {
			return Created{}, err
		}
		created.Promoted = err == nil
	}
	s.report(ctx)
	created.Entry, err = s.Find(ctx, actor, sk.Settings.Name)
	return created, err
}

// blocked returns the reason why a draft cannot be promoted. It returns the errors of the code or, if there are none,
// the findings of the gate.
func blocked(broken []fault.Detail, v registry.Verdict) *fault.Error {
	f := &fault.Error{Code: fault.PolicyBlocked, Message: "The code of the skill breaks the rules.", Details: broken}
	if len(broken) > 0 {
		return f
	}
	for _, finding := range v.Findings {
		f.Details = append(f.Details, fault.Detail{File: finding.File, Line: finding.Line, Column: finding.Column, Code: finding.RuleID, Message: finding.Message + " " + finding.Remedy})
	}
	return f
}

// refusal returns the error if it explains to the client why a draft cannot become a version. For any other error it
// returns nil.
func refusal(err error) *fault.Error {
	var refused *fault.Error
	if errors.As(err, &refused) && slices.Contains([]fault.Code{fault.InvalidInput, fault.BumpTooSmall, fault.VersionExists, fault.Conflict, fault.StorageFull, fault.PolicyBlocked, fault.ApprovalRequired}, refused.Code) {
		return refused
	}
	return nil
}

// written is a skill that was created from a client's request.
type written struct {
	skill    folders.Skill
	broken   []fault.Detail // whether the code has syntax errors or breaks the rule pack
	warnings []fault.Detail
}

// written converts a client's request to a skill folder and checks it. If the code has run(action, args), the skill is
// called with an action. Otherwise main is called with keyword arguments. Code that has syntax errors or breaks the
// rule pack can still become a draft.
func (s *Service) written(ctx context.Context, actor registry.Actor, c Creation) (written, error) {
	settings := folders.Settings{
		Name: c.Name, Version: firstVersion, Description: c.Description, Handler: "handler.run", Tags: c.Triggers, Rules: &folders.Rules{Pack: runtimes.Restricted},
	}
	sk, err := assembled(settings, folders.ActionSchema(c.DefaultParams), c.Code)
	if err != nil {
		return written{}, err
	}
	seen := s.Agents.Inspect(ctx, actor, agents.Program{Input: inputOf(sk), Entrypoint: handlerFile})[0]
	if seen.Err != nil {
		return written{}, sk.Locate(seen.Err)
	}
	w := written{skill: sk, warnings: seen.Report.Warnings}
	parses := true
	for _, d := range seen.Report.Errors {
		if d.Code != missingEntry {
			w.broken = append(w.broken, d)
			parses = parses && strings.HasPrefix(d.Code, runtimes.Restricted+"_")
		}
	}
	switch names := seen.Report.Names; {
	case !parses: // Without a parse result, the names of the functions are unknown.
	case slices.Contains(names, "run"):
	case slices.Contains(names, "main"):
		settings.Handler = "handler.main"
		w.skill, err = assembled(settings, []byte(`{"type": "object"}`), c.Code)
	default:
		err = &fault.Error{Code: fault.InvalidInput, Message: "The code of the skill breaks the rules.",
			Details: append([]fault.Detail{{File: handlerFile, Line: 1, Code: missingEntry, Message: "Define run(action, args), or main with the names of its arguments."}}, w.broken...)}
	}
	return w, err
}

func assembled(settings folders.Settings, input []byte, code string) (folders.Skill, error) {
	files, err := folders.FolderOf(settings, input, []byte(`{}`), map[string]registry.File{handlerFile: registry.File(code)})
	if err != nil {
		return folders.Skill{}, err
	}
	return folders.Parse(files)
}

// draft stores a skill as the draft of its agent and returns the revision of the draft. If the skill is uninstalled,
// draft rejects it, because saving would also restore the skill's old versions.
func (s *Service) draft(ctx context.Context, actor registry.Actor, sk folders.Skill, claims json.RawMessage, seen registry.Seen) (int64, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	skill, err := s.any(ctx, actor, sk.Settings.Name)
	isNew := fault.Is(err, fault.NotFound)
	if err != nil && !isNew {
		return 0, err
	}
	if skill.Uninstalled {
		return 0, fault.New(fault.Conflict, "%s is uninstalled, and a draft would restore its old versions. Install it by name first (POST /v1/skills/install), or choose another name.", skill.Name)
	}
	skill.Drafted, skill.Claims, skill.Handler, skill.InstalledAt, skill.Installer = true, claims, sk.Settings.Handler, s.Now(), actor
	var a registry.Agent
	if isNew {
		if _, err := s.Agents.Get(ctx, actor, sk.Settings.Name); err == nil {
			return 0, fault.New(fault.NameTaken, "%s is an agent but not a skill. Choose another name.", sk.Settings.Name)
		}
		skill.Origin = registry.CreatedSkill
		_, a, err = s.create(ctx, actor, sk, skill)
	} else {
		a, err = s.redraft(ctx, actor, sk, skill, seen)
	}
	if err != nil {
		return 0, err
	}
	s.forget()
	if folder := draftsDir + "/" + a.Name; actor != systemActor() && s.writable(folder) { // A folder that the server has just loaded need not be written back.
		s.writeBack(ctx, folder, sk.Settings, a.Draft.Spec, actor)
	}
	return a.Draft.Revision, nil
}

// redraft replaces the draft of a skill.
func (s *Service) redraft(ctx context.Context, actor registry.Actor, sk folders.Skill, skill registry.Skill, seen registry.Seen) (registry.Agent, error) {
	a, err := s.Agents.Get(ctx, actor, skill.AgentID)
	var draft registry.Draft
	if err == nil {
		draft, err = a.DraftAt(seen)
	}
	if err == nil {
		in := inputOf(sk)
		in.Name = nil
		a, err = s.Agents.Save(ctx, actor, a.ID, registry.SeenRevision(draft.Revision), in)
	}
	if err != nil {
		return a, sk.Locate(err)
	}
	return a, s.Store.PutSkill(context.WithoutCancel(ctx), skill)
}

// Promotion is a request to publish a skill's draft as its next version. If Version is "", the changes determine the
// number.
type Promotion struct {
	Name      string
	Seen      registry.Seen // revision of the draft that is promoted
	Version   string
	Changelog string
	Comment   string // reason why the number may be smaller than advised
}

// Promote publishes a skill's draft as a version. Anonymous callers may not use it.
func (s *Service) Promote(ctx context.Context, actor registry.Actor, p Promotion) (registry.Version, error) {
	if err := s.ready(ctx); err != nil {
		return registry.Version{}, err
	}
	if err := permitted(actor, "promote"); err != nil {
		return registry.Version{}, err
	}
	v, err := s.promote(ctx, actor, p)
	if err != nil {
		return v, err
	}
	s.report(ctx)
	return v, nil
}

func (s *Service) promote(ctx context.Context, actor registry.Actor, p Promotion) (registry.Version, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	skill, err := s.find(ctx, actor, p.Name)
	if err != nil {
		return registry.Version{}, err
	}
	if !skill.Drafted {
		return registry.Version{}, fault.New(fault.Conflict, "%s has no draft to promote.", skill.Name)
	}
	published, err := s.Agents.Publish(ctx, actor, skill.AgentID, agents.PublishRequest{Seen: p.Seen, Version: p.Version, Changelog: p.Changelog, Force: p.Comment != "", Comment: p.Comment, IfChanged: true})
	v := published.Version
	if err != nil {
		return v, err
	}
	skill.Drafted = false
	if err := s.Store.PutSkill(context.WithoutCancel(ctx), skill); err != nil {
		return v, err
	}
	s.forget()
	a, err := s.Agents.Get(ctx, actor, skill.AgentID)
	if err != nil {
		return v, err
	}
	if s.writable(skill.Name) {
		s.writeBack(ctx, skill.Name, settingsOf(v, a.Tags, skill.Handler), v.Spec, actor)
	}
	s.discard(ctx, draftsDir+"/"+skill.Name, actor)
	return v, nil
}

// settingsOf returns the contents of skill.yaml for a version.
func settingsOf(v registry.Version, tags []string, handler string) folders.Settings {
	settings := folders.Settings{
		Name: v.Agent, Version: v.Version, Description: v.Description, Title: v.Title, Changelog: v.Changelog, Handler: handler, Tags: tags,
		SafetyFlags: v.SafetyFlags, RequiresApproval: v.RequiresApproval, Deterministic: v.Deterministic, Environment: v.Environment, Secrets: v.Secrets,
		Capabilities: folders.Capabilities{Hosts: v.Capabilities.Hosts, HostFunctions: v.Capabilities.HostFunctions, Subprocess: v.Capabilities.Subprocess, Tools: v.Capabilities.Tools, Files: (*folders.Files)(v.Capabilities.Files)},
		Limits:       folders.Limits(v.Limits),
	}
	if v.Rules != nil {
		settings.Rules = &folders.Rules{Pack: v.Rules.Pack, Imports: v.Rules.Imports}
	}
	return settings
}

// Register creates an active skill from a client's description. The code is either in the request, or in the skills
// directory in the folder with the skill's name. The skills directory belongs to the default workspace.
func (s *Service) Register(ctx context.Context, actor registry.Actor, settings folders.Settings, input, output json.RawMessage, program map[string]registry.File) (Entry, error) {
	if err := s.ready(ctx); err != nil {
		return Entry{}, err
	}
	if err := permitted(actor, "register"); err != nil {
		return Entry{}, err
	}
	if err := registry.CheckName(settings.Name); err != nil {
		return Entry{}, err
	}
	how, write := registry.Skill{Origin: registry.RegisteredSkill}, actor.Workspace != registry.DefaultWorkspace || s.writable(settings.Name)
	if !write {
		how.Origin = registry.FolderSkill
	}
	if len(program) == 0 {
		if program = s.programIn(settings.Name, actor); program == nil {
			return Entry{}, fault.Invalid("/handler_path", "must refer to existing code; send the code in code or files, or put it into the folder %s of the skills directory first.", settings.Name)
		}
	}
	files, err := folders.FolderOf(settings, input, output, program)
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
	s.changing.Lock()
	if write {
		s.writeFolder(ctx, settings.Name, files, actor)
	} else {
		s.describe(ctx, settings.Name, files, actor)
	}
	s.changing.Unlock()
	s.report(ctx)
	return s.Find(ctx, actor, settings.Name)
}

// programIn returns the program files of a folder, without skill.yaml and schema.json. If the actor may not use the
// directory, or if there are no files, it returns nil.
func (s *Service) programIn(folder string, actor registry.Actor) map[string]registry.File {
	if actor.Workspace != registry.DefaultWorkspace {
		return nil
	}
	program, err := folders.ReadFolder(folders.Dir(s.root, folder))
	if err != nil || len(program) == 0 {
		return nil
	}
	delete(program, folders.SettingsFile)
	delete(program, folders.ManifestFile)
	delete(program, folders.SchemaFile)
	return program
}

package skills

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	folders "github.com/atelier-run/atelier/registry/skills"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/agents"
)

// Creation is a skill in Python as clients send one, often written by a model.
type Creation struct {
	Name          string
	Description   string
	Code          string
	Triggers      []string
	DefaultParams json.RawMessage // an object, or nothing
	Claims        json.RawMessage // what the client says of the code; kept, and trusted for nothing
	Promote       bool
	Seen          registry.Seen // the draft that this one replaces
}

// Created is what became of a creation.
type Created struct {
	Entry    Entry
	Promoted bool
	Refused  *fault.Error // why the draft, which is kept, was not promoted though that was asked for
	Warnings []fault.Detail
}

const (
	firstVersion = "1.0.0"
	handlerFile  = "handler.py"
)

// Create makes a draft of a skill, under the rule pack restricted; asked to, it promotes it as well, when every check has
// passed, and tells why not. A skill that exists keeps its versions: the draft waits beside them.
func (s *Service) Create(ctx context.Context, actor registry.Actor, c Creation) (Created, error) {
	if err := s.ready(ctx); err != nil {
		return Created{}, err
	}
	if err := permitted(actor, "create"); err != nil {
		return Created{}, err
	}
	sk, warnings, err := s.written(ctx, actor, c)
	if err != nil {
		return Created{}, err
	}
	revision, err := s.draft(ctx, actor, sk, c.Claims, c.Seen)
	if err != nil {
		return Created{}, err
	}
	created := Created{Warnings: warnings}
	if c.Promote {
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

// refusal is an error that says why a draft may not become a version, nil for others.
func refusal(err error) *fault.Error {
	var refused *fault.Error
	if errors.As(err, &refused) && slices.Contains([]fault.Code{fault.InvalidInput, fault.BumpTooSmall, fault.VersionExists, fault.Conflict, fault.StorageFull}, refused.Code) {
		return refused
	}
	return nil
}

// written makes a folder of a creation and checks it. Code with run(action, args) is called by action, other code's main
// by keywords.
func (s *Service) written(ctx context.Context, actor registry.Actor, c Creation) (folders.Skill, []fault.Detail, error) {
	settings := folders.Settings{
		Name: c.Name, Version: firstVersion, Description: c.Description, Handler: "handler.run", Tags: c.Triggers, Rules: &folders.Rules{Pack: runtimes.Restricted},
	}
	sk, err := assembled(settings, byActionSchema(c.DefaultParams), c.Code)
	if err != nil {
		return sk, nil, err
	}
	seen := s.Agents.Inspect(ctx, actor, agents.Program{Input: inputOf(sk), Entrypoint: handlerFile})[0]
	if seen.Err != nil {
		return sk, nil, sk.Locate(seen.Err)
	}
	report := seen.Report
	wrong := slices.DeleteFunc(report.Errors, func(d fault.Detail) bool { return d.Code == missingEntry })
	if len(wrong) > 0 {
		return sk, nil, &fault.Error{Code: fault.InvalidInput, Message: "The code of the skill breaks the rules.", Details: wrong}
	}
	switch {
	case slices.Contains(report.Names, "run"):
	case slices.Contains(report.Names, "main"):
		settings.Handler = "handler.main"
		sk, err = assembled(settings, []byte(`{"type": "object"}`), c.Code)
	default:
		err = &fault.Error{Code: fault.InvalidInput, Message: "The code of the skill breaks the rules.",
			Details: []fault.Detail{{File: handlerFile, Line: 1, Code: missingEntry, Message: "Define run(action, args), or main with the names of its arguments."}}}
	}
	return sk, report.Warnings, err
}

func assembled(settings folders.Settings, input []byte, code string) (folders.Skill, error) {
	files, err := folders.FolderOf(settings, input, []byte(`{}`), map[string]registry.File{handlerFile: registry.File(code)})
	if err != nil {
		return folders.Skill{}, err
	}
	return folders.Parse(files)
}

// byActionSchema is the input of run(action, args).
func byActionSchema(defaults json.RawMessage) []byte {
	if len(defaults) == 0 || string(defaults) == "null" {
		defaults = json.RawMessage(`{}`)
	}
	var text bytes.Buffer
	text.WriteString(`{"type": "object", "properties": {"action": {"type": "string", "default": "run"}, "args": {"type": "object", "default": `)
	text.Write(defaults)
	text.WriteString(`}}, "required": ["action", "args"], "additionalProperties": false}`)
	return text.Bytes()
}

// draft keeps a skill as the draft of its agent. One that is uninstalled gets none: its old versions would come back with it,
// and nobody has asked for those. It returns the revision of the draft.
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
	if folder := draftsDir + "/" + a.Name; actor != systemActor() && s.writable(folder) { // what the house loads lies there
		s.writeBack(ctx, folder, sk.Settings, a.Draft.Spec, actor)
	}
	return a.Draft.Revision, nil
}

// redraft puts another draft in the place of a skill's.
func (s *Service) redraft(ctx context.Context, actor registry.Actor, sk folders.Skill, skill registry.Skill, seen registry.Seen) (registry.Agent, error) {
	a, err := s.Agents.Get(ctx, actor, skill.AgentID)
	var draft registry.Draft
	if err == nil {
		draft, err = a.DraftAt(seen)
	}
	if err == nil {
		in := inputOf(sk)
		in.Name = nil
		a, err = s.Agents.Save(ctx, actor, a.ID, draft.Revision, in)
	}
	if err != nil {
		return a, sk.Locate(err)
	}
	return a, s.Store.PutSkill(context.WithoutCancel(ctx), skill)
}

// Promotion asks for a skill's draft to become its next version. Without a version its number is the one that the changes
// ask for.
type Promotion struct {
	Name      string
	Seen      registry.Seen // the draft to promote
	Version   string
	Changelog string
	Comment   string // why the number may be smaller than advised
}

// Promote makes a version of a skill's draft. It is for callers who have shown who they are.
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
	published, err := s.Agents.Publish(ctx, actor, skill.AgentID, agents.PublishRequest{Seen: p.Seen, Version: p.Version, Changelog: p.Changelog, Force: p.Comment != "", Comment: p.Comment})
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

// settingsOf is the skill.yaml of a version.
func settingsOf(v registry.Version, tags []string, handler string) folders.Settings {
	settings := folders.Settings{
		Name: v.Agent, Version: v.Version, Description: v.Description, Title: v.Title, Changelog: v.Changelog, Handler: handler, Tags: tags,
		SafetyFlags: v.SafetyFlags, RequiresApproval: v.RequiresApproval, Deterministic: v.Deterministic, Environment: v.Environment, Secrets: v.Secrets,
		Capabilities: folders.Capabilities{Hosts: v.Capabilities.Hosts, HostFunctions: v.Capabilities.HostFunctions, Subprocess: v.Capabilities.Subprocess},
	}
	if v.Rules != nil {
		settings.Rules = &folders.Rules{Pack: v.Rules.Pack, Imports: v.Rules.Imports}
	}
	return settings
}

// Register makes a skill of what a client describes, active at once. Its code comes along, or lies in the folder of its
// name in the skills directory, which is that of the default workspace.
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
			return Entry{}, fault.Invalid("/handler_path", "must refer to existing code; send it as code or files, or put it into the folder %s of the skills directory first.", settings.Name)
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

// programIn are the files of a folder beside those that say what a skill is; nil for none that the actor may read.
func (s *Service) programIn(folder string, actor registry.Actor) map[string]registry.File {
	if actor.Workspace != registry.DefaultWorkspace {
		return nil
	}
	program, err := folders.ReadFolder(folders.Dir(s.root, folder))
	if err != nil || len(program) == 0 {
		return nil
	}
	delete(program, folders.SettingsFile)
	delete(program, folders.SchemaFile)
	return program
}

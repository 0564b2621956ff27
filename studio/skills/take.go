package skills

import (
	"context"
	"errors"
	"slices"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/advice"
	folders "github.com/atelier-run/atelier/registry/skills"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/inspect"
	"github.com/atelier-run/atelier/studio/agents"
)

// inputOf converts a skill to the input of its agent.
func inputOf(sk folders.Skill) agents.Input {
	spec, settings := sk.Spec, sk.Settings
	tags := settings.Tags
	if tags == nil {
		tags = []string{}
	}
	return agents.Input{
		Name: &settings.Name, Title: &settings.Title, Description: &settings.Description, Tags: &tags,
		Language: &spec.Language, Files: &spec.Files, Entrypoint: &spec.Entrypoint, InputSchema: spec.InputSchema, OutputSchema: spec.OutputSchema,
		Packages: &spec.Packages, Environment: &spec.Environment, Secrets: &spec.Secrets, Capabilities: &spec.Capabilities, Limits: &spec.Limits,
		SafetyFlags: &spec.SafetyFlags, RequiresApproval: &spec.RequiresApproval, Deterministic: &spec.Deterministic, Rules: spec.Rules,
	}
}

// take publishes a version of a skill and stores the agent's skill data. It checks everything before it writes
// anything. fresh reports whether the version is new. An existing version is never changed: if its content differs, the
// error names a number that would be accepted. seen is the result of an earlier inspection; if it is nil, take inspects
// the skill.
//
// Servers that start together may install the same folders at the same time. The slower server then finds the skill in
// its next attempt.
func (s *Service) take(ctx context.Context, actor registry.Actor, sk folders.Skill, how registry.Skill, seen *inspect.Result) (v registry.Version, fresh bool, err error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	for range takeAttempts {
		if v, fresh, err = s.takeOnce(ctx, actor, sk, how, seen); !s.Replicas || !overtaken(err) {
			break
		}
	}
	return v, fresh, err
}

// takeAttempts is the maximum number of attempts to install a skill while other servers install it too.
const takeAttempts = 4

// overtaken reports whether an error may be the result of a concurrent change by another server.
func overtaken(err error) bool {
	for _, code := range []fault.Code{fault.NameTaken, fault.VersionExists, fault.StaleDraft, fault.Conflict} {
		if fault.Is(err, code) {
			return true
		}
	}
	return false
}

func (s *Service) takeOnce(ctx context.Context, actor registry.Actor, sk folders.Skill, how registry.Skill, seen *inspect.Result) (v registry.Version, fresh bool, err error) {
	skill, err := s.any(ctx, actor, sk.Settings.Name)
	isNew := fault.Is(err, fault.NotFound)
	switch {
	case err != nil && !isNew:
		return registry.Version{}, false, err
	case isNew:
		if _, err := s.Agents.Get(ctx, actor, sk.Settings.Name); err == nil {
			return registry.Version{}, false, s.at(sk, "/name", fault.NameTaken, "%s is an agent but not a skill. Rename one of them.", sk.Settings.Name)
		}
	case skill.Uninstalled:
		return registry.Version{}, false, fault.New(fault.Conflict, "%s is uninstalled. Install it by name to use it again.", skill.Name)
	default:
		v, err = s.Agents.Version(ctx, actor, skill.AgentID, sk.Settings.Version)
		if err == nil {
			return v, false, s.compare(v, sk, skill)
		}
		if !fault.Is(err, fault.NotFound) {
			return v, false, err
		}
	}
	if seen == nil {
		seen = &s.Agents.Inspect(ctx, actor, programOf(sk))[0]
	}
	if err := s.judge(sk, *seen); err != nil {
		return registry.Version{}, false, err
	}
	skill.Origin, skill.Source, skill.Claims, skill.InstalledAt, skill.Installer = how.Origin, how.Source, how.Claims, s.Now(), actor
	if isNew { // Create the agent before the version is published, so that after a failure the next attempt finds the skill.
		skill.Handler = sk.Settings.Handler
		if skill, _, err = s.create(ctx, actor, sk, skill); err != nil {
			return registry.Version{}, false, err
		}
	}
	s.forget()
	v, err = s.Agents.Release(ctx, actor, skill.AgentID, inputOf(sk), agents.PublishRequest{
		Version: sk.Settings.Version, Changelog: sk.Settings.Changelog, Force: sk.Settings.Override != "", Comment: sk.Settings.Override,
	})
	if err != nil {
		return v, false, s.tooSmall(sk, err)
	}
	skill.Handler = sk.Settings.Handler
	return v, true, s.Store.PutSkill(context.WithoutCancel(ctx), skill)
}

// create creates the agent of a new skill.
func (s *Service) create(ctx context.Context, actor registry.Actor, sk folders.Skill, skill registry.Skill) (registry.Skill, registry.Agent, error) {
	a, err := s.Agents.Compose(ctx, actor, inputOf(sk))
	if err != nil {
		return skill, a, sk.Locate(err)
	}
	skill.AgentID, skill.Workspace, skill.Name = a.ID, a.Workspace, a.Name
	return skill, a, sk.Locate(s.Store.CreateSkill(ctx, a, skill))
}

// programOf returns the program of a skill for an inspection.
func programOf(sk folders.Skill) agents.Program {
	file, _ := sk.Handler()
	if sk.Spec.Language != runtimes.Python {
		file = sk.Spec.Entrypoint // The bundler finds the handler's file through this import.
	}
	return agents.Program{Input: inputOf(sk), Entrypoint: file}
}

// judge runs all checks of a skill that do not run its code.
func (s *Service) judge(sk folders.Skill, seen inspect.Result) error {
	if seen.Err != nil {
		return sk.Locate(seen.Err)
	}
	file, function := sk.Handler()
	report := seen.Report
	wrong := report.Errors
	if function != "" {
		wrong = slices.DeleteFunc(slices.Clone(wrong), func(d fault.Detail) bool { return d.Code == missingEntry })
	}
	if len(wrong) > 0 {
		return sk.Locate(&fault.Error{Code: fault.InvalidInput, Message: "The skill is not valid.", Details: wrong})
	}
	if function != "" && sk.Spec.Language == runtimes.Python && !slices.Contains(report.Names, function) && !slices.Contains(report.Names, "*") {
		return s.at(sk, "/handler", fault.InvalidInput, "must name an existing function; %[2]s does not define %[1]s.", function, file)
	}
	return nil
}

// missingEntry is the code of the error for a program that has neither main nor run. If the handler names a function,
// this error is ignored, because the program does not need main or run.
const missingEntry = "missing_entry"

// same reports whether a version has the content of a folder. It ignores the fields that the folder does not set and
// the generated entry file, because these may have changed since the version was published.
func (s *Service) same(v registry.Version, sk folders.Skill, skill registry.Skill) (bool, agents.Input, error) {
	in := inputOf(sk)
	limits := in.Limits.Or(v.Limits)
	in.Limits = &limits
	files := map[string]registry.File{}
	for name, content := range *in.Files {
		if was, ok := v.Files[name]; ok && folders.IsEntry(name) && skill.Handler == sk.Settings.Handler {
			content = was
		}
		files[name] = content
	}
	in.Files = &files
	candidate := v
	candidate.Changelog = sk.Settings.Changelog
	digest, err := s.Agents.Digest(candidate, in)
	return digest == v.Digest, in, err
}

// compare returns an error if the content of a folder differs from the published version with the same number. The
// error names a number that would be accepted.
func (s *Service) compare(v registry.Version, sk folders.Skill, skill registry.Skill) error {
	same, in, err := s.same(v, sk, skill)
	if err != nil {
		return sk.Locate(err)
	}
	if same {
		return nil
	}
	next := v
	next.Spec, next.Title, next.Description = agents.SpecOf(in), sk.Settings.Title, sk.Settings.Description
	remedy := "raise version in skill.yaml"
	if reasons, err := advice.Between(v, next); err == nil {
		if number, err := advice.Next(v.Version, advice.Of(reasons)); err == nil && number != v.Version {
			remedy += " to " + number + " or higher"
		}
	}
	return s.at(sk, "/version", fault.VersionExists, "%s exists with other content, and versions cannot change; %s.", v.Reference(), remedy)
}

// at returns an error about a field of skill.yaml, with the line of the field.
func (s *Service) at(sk folders.Skill, pointer string, code fault.Code, format string, args ...any) error {
	f := fault.New(code, "The skill is not valid.")
	f.Details = fault.Invalid("", format, args...).Details
	f.Details[0].File, f.Details[0].Line = folders.SettingsFile, sk.Line(pointer)
	return f
}

// tooSmall adds the line of the version number to an error about a number that is too small. To any other error it adds
// the line of its field.
func (s *Service) tooSmall(sk folders.Skill, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.BumpTooSmall {
		return sk.Locate(err)
	}
	moved := *f
	moved.Details = append(fault.Invalid("", "%s Or state the reason in override.", f.Message).Details, f.Details...)
	moved.Details[0].File, moved.Details[0].Line = folders.SettingsFile, sk.Line("/version")
	return &moved
}

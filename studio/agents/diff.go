package agents

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/advice"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/packages"
)

// Diff holds the differences between two versions of an agent, or between a version and the draft.
type Diff struct {
	From     string            `json:"from" doc:"Version number, or draft."`
	To       string            `json:"to"`
	Revision int64             `json:"draftRevision,omitempty" doc:"Revision of the draft. Absent if both sides are versions."`
	Files    []FileDiff        `json:"files" doc:"Changed files."`
	Settings []SettingDiff     `json:"settings" doc:"Other changed fields."`
	Packages []packages.Change `json:"packages" doc:"Packages with a different version or file."`
	Advice   registry.Advice   `json:"advice"`
	// CapabilityChanges describes the capabilities that only the second side has. It is empty if the gate is off.
	CapabilityChanges []registry.CapabilityChange `json:"capabilityChanges" doc:"Sentences about the capabilities that only the second side has. Empty if the gate is off."`
}

// FileDiff is the difference of one file.
type FileDiff struct {
	Path    string `json:"path"`
	Status  string `json:"status" enum:"added,removed,changed"`
	Binary  bool   `json:"binary"`
	Unified string `json:"unified" doc:"Unified diff. Empty for binary files and files that are too large to compare."`
}

// SettingDiff is the difference of one field.
type SettingDiff struct {
	Group  string          `json:"group" enum:"schema,capabilities,limits,settings"`
	Name   string          `json:"name" doc:"Name of the field, for example limits.timeoutMs."`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// Diff compares two sides. Each side is a version as in a reference, or "draft". The advice covers all changes from the
// first side to the second, even if other versions lie between them.
func (s *Service) Diff(ctx context.Context, actor registry.Actor, ref, from, to string, seen registry.Seen) (Diff, error) {
	a, err := s.Agents.Agent(ctx, actor.Workspace, ref)
	if err != nil {
		return Diff{}, err
	}
	if seen.Named() && from != registry.DraftVersion && to != registry.DraftVersion {
		return Diff{}, registry.NoDraftNamed(from + " and " + to)
	}
	before, err := s.side(ctx, a, seen, from, "/from")
	if err != nil {
		return Diff{}, err
	}
	after, err := s.side(ctx, a, seen, to, "/to")
	if err != nil {
		return Diff{}, err
	}
	d, err := s.compare(ctx, a.Workspace, before, after)
	if from == registry.DraftVersion || to == registry.DraftVersion {
		d.Revision = a.Draft.Revision
	}
	return d, err
}

// compare compares two versions.
func (s *Service) compare(ctx context.Context, workspace string, before, after registry.Version) (Diff, error) {
	d := Diff{From: before.Version, To: after.Version, Files: filesApart(before.Files, after.Files), Settings: settingsApart(before, after)}
	var err error
	if d.Packages, err = s.packagesApart(ctx, workspace, before, after); err != nil {
		return Diff{}, err
	}
	verdict, err := s.judged(ctx, workspace, after.Spec, &before.Spec)
	if err != nil && !fault.Is(err, fault.RuntimeUnavailable) && !fault.Is(err, fault.SandboxUnavailable) { // Without a parser, the other fields can still be compared.
		return Diff{}, err
	}
	d.CapabilityChanges = verdict.CapabilityChanges
	reasons, err := advice.Between(before, after)
	if err != nil {
		return Diff{}, err
	}
	d.Advice = registry.Advice{Base: before.Version, Bump: advice.Of(reasons), Reasons: orNone(reasons)}
	if before.Version != registry.DraftVersion {
		d.Advice.Version, err = advice.Next(before.Version, d.Advice.Bump)
	}
	return d, err
}

// side returns one side of a comparison. If the side is a draft, it is converted to the form of a version.
func (s *Service) side(ctx context.Context, a registry.Agent, seen registry.Seen, version, pointer string) (registry.Version, error) {
	if version == "" {
		return registry.Version{}, fault.Invalid(pointer, "must be a version, latest or draft.")
	}
	if version == registry.DraftVersion {
		draft, err := a.DraftAt(seen)
		return registry.Version{AgentID: a.ID, Agent: a.Name, Title: a.Title, Description: a.Description, Version: registry.DraftVersion, Spec: draft.Spec}, err
	}
	return s.Resolver.Resolve(ctx, a.Workspace, registry.Reference{Agent: a.ID, Version: version})
}

// maxCompared is the maximum total size in bytes of two texts that are compared line by line.
const maxCompared = 512 << 10

func filesApart(before, after map[string]registry.File) []FileDiff {
	paths := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(paths)
	all := []FileDiff{}
	for _, path := range slices.Compact(paths) {
		was, had := before[path]
		is, has := after[path]
		if had && has && slices.Equal(was, is) {
			continue
		}
		d := FileDiff{Path: path, Status: "changed", Binary: !utf8.Valid(was) || !utf8.Valid(is)}
		switch {
		case !had:
			d.Status = "added"
		case !has:
			d.Status = "removed"
		}
		if !d.Binary && len(was)+len(is) <= maxCompared {
			d.Unified = udiff.Unified("a/"+path, "b/"+path, string(was), string(is))
		}
		all = append(all, d)
	}
	return all
}

// settingsApart lists the fields that differ, under their API names.
func settingsApart(before, after registry.Version) []SettingDiff {
	b, a := before.Spec, after.Spec
	all := []SettingDiff{}
	add := func(group, name string, was, is any) {
		left, errLeft := json.Marshal(was)
		right, errRight := json.Marshal(is)
		if errLeft != nil || errRight != nil || sameJSON(left, right) {
			return
		}
		all = append(all, SettingDiff{group, name, left, right})
	}
	add("schema", "inputSchema", orNull(b.InputSchema), orNull(a.InputSchema))
	add("schema", "outputSchema", orNull(b.OutputSchema), orNull(a.OutputSchema))
	add("capabilities", "capabilities.hosts", b.Capabilities.Hosts, a.Capabilities.Hosts)
	add("capabilities", "capabilities.hostFunctions", b.Capabilities.HostFunctions, a.Capabilities.HostFunctions)
	add("capabilities", "capabilities.subprocess", b.Capabilities.Subprocess, a.Capabilities.Subprocess)
	add("capabilities", "capabilities.tools", b.Capabilities.Tools, a.Capabilities.Tools)
	add("capabilities", "capabilities.files", b.Capabilities.Files, a.Capabilities.Files)
	if len(b.Capabilities.Pinned) > 0 && len(a.Capabilities.Pinned) > 0 { // A draft has no pinned tools until it is published.
		add("capabilities", "capabilities.pinned", b.Capabilities.Pinned, a.Capabilities.Pinned)
	}
	add("capabilities", "secrets", b.Secrets, a.Secrets)
	is := a.Limits.Fields()
	for i, was := range b.Limits.Fields() {
		add("limits", "limits."+was.Name, *was.Value, *is[i].Value)
	}
	add("settings", "title", before.Title, after.Title)
	add("settings", "description", before.Description, after.Description)
	add("settings", "language", b.Language, a.Language)
	if b.Runtime != runtimes.Auto && a.Runtime != runtimes.Auto { // The runtime auto of a draft is replaced only when the draft is published.
		add("settings", "runtime", b.Runtime, a.Runtime)
	}
	add("settings", "isolation", b.Isolation, a.Isolation)
	add("settings", "entrypoint", b.Entrypoint, a.Entrypoint)
	add("settings", "packages", b.Packages, a.Packages)
	add("settings", "environment", b.Environment, a.Environment)
	add("settings", "safetyFlags", b.SafetyFlags, a.SafetyFlags)
	add("settings", "requiresApproval", b.RequiresApproval, a.RequiresApproval)
	add("settings", "deterministic", b.Deterministic, a.Deterministic)
	add("settings", "rules", b.Rules, a.Rules)
	return all
}

func orNull(schema json.RawMessage) json.RawMessage {
	if len(schema) == 0 {
		return json.RawMessage("null")
	}
	return schema
}

// sameJSON reports whether two JSON documents have the same value. Formatting is ignored.
func sameJSON(a, b json.RawMessage) bool {
	left, errLeft := jcs.Digest(a)
	right, errRight := jcs.Digest(b)
	return errLeft == nil && errRight == nil && left == right
}

// Package advice compares two versions of an agent. It lists the differences with JSON pointers and recommends the next
// version number. A change that may break callers is major, an addition is minor, and every other change is a patch.
// Numbers follow semver.org 2.0.0. The package only recommends a number; the package that publishes decides.
package advice

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/compat"
	"github.com/atelier-run/atelier/runtimes"
)

// rank returns the position of a bump in the order none, patch, minor, major.
func rank(b registry.Bump) int {
	return slices.Index([]registry.Bump{registry.NoBump, registry.PatchBump, registry.MinorBump, registry.MajorBump}, b)
}

// Between lists the differences between two versions, those with the largest bump first. Error: InvalidInput for a
// schema that does not compile.
func Between(before, after registry.Version) ([]registry.Reason, error) {
	input, err := compat.Compare(before.InputSchema, after.InputSchema, "the input")
	if err != nil {
		return nil, fmt.Errorf("compare input schemas: %w", err)
	}
	output, err := compat.Compare(before.OutputSchema, after.OutputSchema, "the output")
	if err != nil {
		return nil, fmt.Errorf("compare output schemas: %w", err)
	}
	reasons := ofWords("/inputSchema", "input", before.InputSchema, after.InputSchema, ofInput(input))
	reasons = append(reasons, ofWords("/outputSchema", "output", before.OutputSchema, after.OutputSchema, ofOutput(output))...)
	reasons = append(reasons, ofGrants(before.Spec, after.Spec)...)
	reasons = append(reasons, ofSettings(before.Spec, after.Spec)...)
	reasons = append(reasons, ofCode(before.Spec, after.Spec)...)
	if before.Title != after.Title {
		reasons = append(reasons, reason(registry.PatchBump, "/title", "the title changed"))
	}
	if before.Description != after.Description {
		reasons = append(reasons, reason(registry.PatchBump, "/description", "the description changed"))
	}
	slices.SortStableFunc(reasons, func(a, b registry.Reason) int { return rank(b.Bump) - rank(a.Bump) })
	return reasons, nil
}

func reason(bump registry.Bump, pointer, message string) registry.Reason {
	return registry.Reason{Bump: bump, Pointer: pointer, Message: message}
}

// Of returns the largest bump among the reasons.
func Of(reasons []registry.Reason) registry.Bump {
	most := registry.NoBump
	for _, r := range reasons {
		if rank(r.Bump) > rank(most) {
			most = r.Bump
		}
	}
	return most
}

// ofInput returns the reasons that follow from the differences between the input schemas. A change is minor or smaller
// only if the new version accepts every input of the old version and ignores no part of these inputs. Every other
// change is major.
func ofInput(r compat.Result) []registry.Reason {
	var reasons []registry.Reason
	for _, c := range r.Changes {
		bump := registry.MinorBump
		if c.Effect == compat.Narrows || c.Effect == compat.Removes {
			bump = registry.MajorBump
		}
		if c.Effect == compat.Widens && slices.ContainsFunc(r.Changes, func(other compat.Change) bool { return other.Effect == compat.Adds && other.Path() == c.Path() }) {
			continue // the change that adds the property already reports that the property is allowed
		}
		reasons = append(reasons, reason(bump, "/inputSchema"+c.Pointer, sentence(c, " to the input", " from the input")))
	}
	if (r.Forward == compat.Unknown || r.Forward == compat.No) && Of(reasons) != registry.MajorBump {
		reasons = append(reasons, reason(registry.MajorBump, "/inputSchema", "cannot determine whether the input still accepts all earlier values"))
	}
	return reasons
}

// ofOutput returns the reasons that follow from the differences between the output schemas. A change is major unless
// every output of the new version fits the old schema.
func ofOutput(r compat.Result) []registry.Reason {
	var reasons []registry.Reason
	for _, c := range r.Changes {
		bump := registry.MinorBump
		if c.Effect == compat.Widens || c.Effect == compat.Removes {
			bump = registry.MajorBump
		}
		reasons = append(reasons, reason(bump, "/outputSchema"+c.Pointer, sentence(c, " to the output", " from the output")))
	}
	if r.Backward != compat.Yes && Of(reasons) != registry.MajorBump {
		reasons = append(reasons, reason(registry.MajorBump, "/outputSchema", "cannot determine whether the output still matches the earlier schema"))
	}
	return reasons
}

func sentence(c compat.Change, to, from string) string {
	switch c.Effect {
	case compat.Adds:
		return c.Message + to
	case compat.Removes:
		return c.Message + from
	case compat.Narrows, compat.Widens:
		if strings.HasPrefix(c.Message, "`") {
			return c.Message + strings.Replace(to, " to", " in", 1)
		}
	}
	return c.Message
}

// ofWords adds a reason if schemas differ, but only in descriptions.
func ofWords(pointer, what string, before, after json.RawMessage, reasons []registry.Reason) []registry.Reason {
	if len(reasons) > 0 || sameJSON(before, after) {
		return reasons
	}
	return []registry.Reason{reason(registry.PatchBump, pointer, "the descriptions of the "+what+" schema changed")}
}

func sameJSON(a, b json.RawMessage) bool {
	left, errLeft := jcs.Digest(orAny(a))
	right, errRight := jcs.Digest(orAny(b))
	return errLeft == nil && errRight == nil && left == right
}

func orAny(schema json.RawMessage) json.RawMessage {
	if len(schema) == 0 || string(schema) == "null" {
		return json.RawMessage("{}")
	}
	return schema
}

// agentsOf returns the names of the agents in references.
func agentsOf(references []string) []string {
	names := make([]string, len(references))
	for i, text := range references {
		names[i], _, _ = strings.Cut(text, "@")
	}
	return names
}

// ofGrants compares capabilities and secrets. A new one is a major change, because callers must consent to it.
func ofGrants(before, after registry.Spec) []registry.Reason {
	var reasons []registry.Reason
	lists := []struct {
		pointer, what string
		before, after []string
		covered       func(string) bool
	}{
		{"/capabilities/hosts", "host", before.Capabilities.Hosts, after.Capabilities.Hosts, func(host string) bool { return reaches(before.Capabilities.Hosts, host) }},
		{"/capabilities/hostFunctions", "host function", before.Capabilities.HostFunctions, after.Capabilities.HostFunctions, nil},
		{"/capabilities/tools", "called agent", agentsOf(before.Capabilities.Tools), agentsOf(after.Capabilities.Tools), nil},
		{"/secrets", "secret", before.Secrets, after.Secrets, nil},
	}
	for _, l := range lists {
		for _, name := range l.after {
			if !slices.Contains(l.before, name) && (l.covered == nil || !l.covered(name)) {
				reasons = append(reasons, reason(registry.MajorBump, l.pointer, "the "+l.what+" `"+name+"` is a new capability"))
			}
		}
		for _, name := range l.before {
			if !slices.Contains(l.after, name) {
				reasons = append(reasons, reason(registry.PatchBump, l.pointer, "the "+l.what+" `"+name+"` is no longer requested"))
			}
		}
	}
	for _, pin := range after.Capabilities.Pinned {
		if !slices.Contains(before.Capabilities.Pinned, pin) {
			reasons = append(reasons, reason(registry.PatchBump, "/capabilities/tools", "`"+pin.Reference+"` is now the version "+pin.Version))
		}
	}
	switch {
	case after.Capabilities.Subprocess && !before.Capabilities.Subprocess:
		reasons = append(reasons, reason(registry.MajorBump, "/capabilities/subprocess", "starting processes is a new capability"))
	case before.Capabilities.Subprocess && !after.Capabilities.Subprocess:
		reasons = append(reasons, reason(registry.PatchBump, "/capabilities/subprocess", "starting processes is no longer requested"))
	}
	reasons = append(reasons, ofFiles(before.Capabilities.Files, after.Capabilities.Files)...)
	switch {
	case after.RequiresApproval && !before.RequiresApproval:
		reasons = append(reasons, reason(registry.MajorBump, "/requiresApproval", "runs now require an approval"))
	case before.RequiresApproval && !after.RequiresApproval:
		reasons = append(reasons, reason(registry.PatchBump, "/requiresApproval", "runs no longer require an approval"))
	}
	return reasons
}

// reaches reports whether the granted hosts include a host: the same host, or a wildcard for all hosts below a name.
func reaches(granted []string, host string) bool {
	return slices.ContainsFunc(granted, func(g string) bool {
		suffix, wild := strings.CutPrefix(g, "*")
		return g == host || (wild && strings.HasSuffix(host, suffix) && host != "*"+suffix && !strings.HasPrefix(host, "."))
	})
}

func ofSettings(before, after registry.Spec) []registry.Reason {
	var reasons []registry.Reason
	add := func(pointer, format string, args ...any) {
		reasons = append(reasons, reason(registry.PatchBump, pointer, fmt.Sprintf(format, args...)))
	}
	if before.Language != after.Language {
		add("/language", "the language is %s; it was %s", after.Language, before.Language)
	}
	if before.Runtime != after.Runtime && after.Runtime != runtimes.Auto {
		add("/runtime", "the runtime is %s; it was %s", after.Runtime, before.Runtime)
	}
	if before.Isolation != after.Isolation {
		add("/isolation", "the isolation of runs is %s; it was %s", isolation(after.Isolation), isolation(before.Isolation))
	}
	if before.Entrypoint != after.Entrypoint {
		add("/entrypoint", "the entry file is %s; it was %s", after.Entrypoint, before.Entrypoint)
	}
	for _, l := range limits(before.Limits, after.Limits) {
		if l.before != l.after {
			is, was := l.shown(l.after), l.shown(l.before)
			if is == was { // the rounded texts are equal, so write the exact numbers
				is, was = count(l.after), count(l.before)
			}
			add("/limits/"+l.name, "the %s is %s; it was %s", l.words, is, was)
		}
	}
	for _, name := range both(before.Environment, after.Environment) {
		was, had := before.Environment[name]
		is, has := after.Environment[name]
		switch {
		case !had:
			add("/environment/"+name, "the variable `%s` was added to the environment", name)
		case !has:
			add("/environment/"+name, "the variable `%s` was removed from the environment", name)
		case was != is:
			add("/environment/"+name, "the value of the variable `%s` changed", name)
		}
	}
	if !slices.Equal(before.Packages, after.Packages) {
		add("/packages", "the packages changed")
	} else if a, b := lockOf(before), lockOf(after); a != b {
		add("/packages", "the packages have other versions or files")
	}
	if !equalSets(before.SafetyFlags, after.SafetyFlags) {
		add("/safetyFlags", "the safety flags are %s; they were %s", words(after.SafetyFlags), words(before.SafetyFlags))
	}
	if before.Deterministic != after.Deterministic {
		add("/deterministic", "it is %sdeterministic", map[bool]string{true: "now declared ", false: "no longer declared "}[after.Deterministic])
	}
	if was, is := rules(before.Rules), rules(after.Rules); was != is {
		add("/rules", "the rules are %s; they were %s", is, was)
	}
	return reasons
}

// lockOf returns the digest of a version's lock, "" for none.
func lockOf(v registry.Spec) string {
	if v.Lock == nil {
		return ""
	}
	return v.Lock.Digest()
}

func isolation(i runtimes.Isolation) string {
	if i == runtimes.Pooled {
		return "the runtime's default"
	}
	return string(i)
}

func rules(r *runtimes.Rules) string {
	switch {
	case r == nil:
		return "none"
	case len(r.Imports) == 0:
		return r.Pack
	}
	return r.Pack + " with the modules " + words(slices.Sorted(slices.Values(r.Imports)))
}

type limit struct {
	name, words   string
	before, after int64
	text          func(int64) string
}

// shown returns a limit as text. 0 means that the limit is absent.
func (l limit) shown(n int64) string {
	if n == 0 {
		return "the server's default"
	}
	return l.text(n)
}

func limits(before, after runtimes.Limits) []limit {
	return []limit{
		{"timeoutMs", "timeout", before.TimeoutMs, after.TimeoutMs, seconds},
		{"cpuMs", "limit of CPU time", before.CPUMs, after.CPUMs, seconds},
		{"memoryBytes", "memory limit", before.MemoryBytes, after.MemoryBytes, bytesize.Text[int64]},
		{"processes", "limit of processes", before.Processes, after.Processes, count},
		{"outputBytes", "output limit", before.OutputBytes, after.OutputBytes, bytesize.Text[int64]},
		{"diskBytes", "disk limit", before.DiskBytes, after.DiskBytes, bytesize.Text[int64]},
		{"recursionDepth", "recursion limit", before.RecursionDepth, after.RecursionDepth, count},
	}
}

func seconds(ms int64) string { return strconv.FormatFloat(float64(ms)/1000, 'f', -1, 64) + " s" }

func count(n int64) string { return strconv.FormatInt(n, 10) }

func ofCode(before, after registry.Spec) []registry.Reason {
	var reasons []registry.Reason
	for _, path := range both(before.Files, after.Files) {
		was, had := before.Files[path]
		is, has := after.Files[path]
		verb := "changed"
		switch {
		case !had:
			verb = "was added"
		case !has:
			verb = "was removed"
		case slices.Equal(was, is):
			continue
		}
		reasons = append(reasons, reason(registry.PatchBump, "/files/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(path), "the file "+path+" "+verb))
	}
	return reasons
}

// both lists the keys of two maps in sorted order, each once.
func both[V any](a, b map[string]V) []string {
	keys := slices.Collect(maps.Keys(a))
	keys = slices.AppendSeq(keys, maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}

func equalSets(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func words(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

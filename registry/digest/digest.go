// Package digest identifies versions by content. It computes three digests: "sha256:" and hexadecimal over canonical
// JSON (RFC 8785). Each digest includes the smaller one, so the whole can be verified from its parts.
package digest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// Sums are the digests of a version. Code covers files and entrypoint. Content also covers settings, schemas, limits,
// capabilities, title and description: everything that determines or describes the behaviour. Version also covers name,
// semver, changelog and tests. A pinned reference names the digest Version.
type Sums struct{ Version, Content, Code string }

// Of computes the digests of a version. When it was published, by whom, and whether it is deprecated do not count.
func Of(v registry.Version) (Sums, error) {
	code, err := Code(v.Files, v.Entrypoint)
	if err != nil {
		return Sums{}, err
	}
	content, err := jcs.DigestValue(contentOf(v, code))
	if err != nil {
		return Sums{}, fmt.Errorf("digest the content of %s: %w", v.Reference(), err)
	}
	form := wholeForm{Form: "atelier/version/1", Content: content, Name: v.Agent, Version: v.Version, Changelog: v.Changelog}
	if len(v.Tests) > 0 {
		if form.Tests, err = jcs.DigestValue(v.Tests); err != nil {
			return Sums{}, fmt.Errorf("digest the tests of %s: %w", v.Reference(), err)
		}
	}
	whole, err := jcs.DigestValue(form)
	if err != nil {
		return Sums{}, fmt.Errorf("digest %s: %w", v.Reference(), err)
	}
	return Sums{Version: whole, Content: content, Code: code}, nil
}

// Authored computes a digest of what an author writes in a draft. It leaves out what publishing decides: the runtime, the
// lock and the versions of tools. A version has the digest of the draft that it was made from.
func Authored(spec registry.Spec) (string, error) {
	spec.Runtime, spec.Lock, spec.Capabilities.Pinned = "", nil, nil
	sums, err := Of(registry.Version{Spec: spec})
	return sums.Content, err
}

// Code computes the digest of a program: its files, by the SHA-256 of their bytes, and its entrypoint.
func Code[F ~[]byte](files map[string]F, entrypoint string) (string, error) {
	form := codeForm{Form: "atelier/code/1", Entrypoint: entrypoint, Files: make(map[string]string, len(files))}
	for path, content := range files {
		if !utf8.ValidString(path) {
			return "", fmt.Errorf("digest code: a path is not UTF-8") // encoding/json would make it equal to another path
		}
		form.Files[path] = jcs.Sum(content)
	}
	sum, err := jcs.DigestValue(form)
	if err != nil {
		return "", fmt.Errorf("digest code: %w", err)
	}
	return sum, nil
}

// The forms define the digested JSON. Form names the kind, so two kinds of digest never cover the same text. It is
// raised when a member changes its meaning.
type codeForm struct {
	Form       string            `json:"form"`
	Entrypoint string            `json:"entrypoint"`
	Files      map[string]string `json:"files"`
}

type contentForm struct {
	Form             string                `json:"form"`
	Code             string                `json:"code"`
	Title            string                `json:"title"`
	Description      string                `json:"description"`
	Language         runtimes.Language     `json:"language"`
	Runtime          runtimes.Name         `json:"runtime"`
	InputSchema      json.RawMessage       `json:"inputSchema"`
	OutputSchema     json.RawMessage       `json:"outputSchema"`
	Packages         []string              `json:"packages"`
	Environment      map[string]string     `json:"environment"`
	Secrets          []string              `json:"secrets"`
	Capabilities     runtimes.Capabilities `json:"capabilities"`
	Limits           runtimes.Limits       `json:"limits"`
	SafetyFlags      []string              `json:"safetyFlags"`
	RequiresApproval bool                  `json:"requiresApproval"`
	Deterministic    bool                  `json:"deterministic"`
	Rules            *runtimes.Rules       `json:"rules,omitempty"`     // absent in the form before there were rules
	Isolation        runtimes.Isolation    `json:"isolation,omitempty"` // absent in the form before a version had one
	Lock             string                `json:"lock,omitempty"`      // digest; absent without packages
}

type wholeForm struct {
	Form      string `json:"form"`
	Content   string `json:"content"`
	Name      string `json:"name"`
	Version   string `json:"version"`
	Changelog string `json:"changelog"`
	Tests     string `json:"tests,omitempty"` // absent for a version without tests
}

// contentOf normalises equal content: absent values are empty and sets are sorted.
func contentOf(v registry.Version, code string) contentForm {
	form := contentForm{
		Form: "atelier/content/1", Code: code, Title: v.Title, Description: v.Description,
		Language: v.Language, Runtime: v.Runtime, InputSchema: schemaOf(v.InputSchema), OutputSchema: schemaOf(v.OutputSchema),
		Packages: append([]string{}, v.Packages...), Environment: v.Environment, Secrets: set(v.Secrets),
		Capabilities: v.Capabilities, Limits: v.Limits, SafetyFlags: set(v.SafetyFlags),
		RequiresApproval: v.RequiresApproval, Deterministic: v.Deterministic, Isolation: v.Isolation,
	}
	form.Capabilities.Hosts, form.Capabilities.HostFunctions = set(v.Capabilities.Hosts), set(v.Capabilities.HostFunctions)
	if len(v.Capabilities.Tools) > 0 {
		form.Capabilities.Tools = set(v.Capabilities.Tools)
	}
	if v.Rules != nil {
		form.Rules = &runtimes.Rules{Pack: v.Rules.Pack, Imports: set(v.Rules.Imports)}
	}
	if v.Lock != nil {
		form.Lock = v.Lock.Digest()
	}
	if form.Environment == nil {
		form.Environment = map[string]string{}
	}
	return form
}

func schemaOf(raw json.RawMessage) json.RawMessage {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || string(trimmed) == "null" {
		return json.RawMessage("{}")
	}
	return raw
}

func set(names []string) []string {
	sorted := append([]string{}, names...)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

// Package digest identifies versions by content. It computes three digests over canonical JSON (RFC 8785), in the form
// "sha256:" and hexadecimal digits. The digest of the content includes the digest of the code, and the digest of the
// version includes the digest of the content.
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

// Sums holds the digests of a version. Code covers files and entrypoint. Content also covers settings, schemas, limits,
// capabilities, title and description: all fields that determine or describe the behaviour. Version also covers name,
// semver, changelog and tests. A reference by digest uses the digest Version.
type Sums struct{ Version, Content, Code string }

// Of computes the digests of a version. The digests do not depend on the publisher, the time of publishing or the
// deprecation.
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

// Authored computes a digest of the parts of a spec that the author writes. It omits the parts that publishing adds:
// the runtime, the lock and the versions of tools. So a version has the same digest as the draft from which it was
// published.
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
			return "", fmt.Errorf("digest code: a path is not UTF-8") // encoding/json would replace the invalid bytes, and so make the path equal to another path
		}
		form.Files[path] = jcs.Sum(content)
	}
	sum, err := jcs.DigestValue(form)
	if err != nil {
		return "", fmt.Errorf("digest code: %w", err)
	}
	return sum, nil
}

// These types define the JSON over which the digests are computed. The member form names the type and its number, so
// two types of digest never have the same text. If the meaning of a member changes, the number must be increased.
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
	Rules            *runtimes.Rules       `json:"rules,omitempty"`     // omitted if nil, so that versions older than this setting keep their digests
	Isolation        runtimes.Isolation    `json:"isolation,omitempty"` // omitted if empty, so that versions older than this setting keep their digests
	Lock             string                `json:"lock,omitempty"`      // digest of the lock; omitted if the version has no packages
}

type wholeForm struct {
	Form      string `json:"form"`
	Content   string `json:"content"`
	Name      string `json:"name"`
	Version   string `json:"version"`
	Changelog string `json:"changelog"`
	Tests     string `json:"tests,omitempty"` // omitted if the version has no tests
}

// contentOf returns the content of a version in a normal form: absent values become empty values, and sets are sorted.
// So equal content has equal digests.
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

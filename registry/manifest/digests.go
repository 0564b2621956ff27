package manifest

import (
	"fmt"

	"github.com/atelier-run/atelier/internal/canon"
	"github.com/atelier-run/atelier/registry"
)

// Digests returns the three digests of a version: of all of it, of its content without name, number and changelog, and
// of its code. A digest is "sha256:" and hexadecimal digits over canonical JSON; the same content has the same digest,
// however it was spelt.
func Digests(spec registry.Spec, name, version, changelog string) (digest, contentDigest, codeDigest string, err error) {
	if codeDigest, err = CodeDigest(spec); err != nil {
		return "", "", "", err
	}
	if contentDigest, err = canon.DigestValue(content(spec)); err != nil {
		return "", "", "", fmt.Errorf("digest content: %w", err)
	}
	digest, err = canon.DigestValue(map[string]any{"name": name, "version": version, "changelog": changelog, "content": content(spec)})
	if err != nil {
		return "", "", "", fmt.Errorf("digest version: %w", err)
	}
	return digest, contentDigest, codeDigest, nil
}

// CodeDigest is the digest of files and entrypoint alone.
func CodeDigest(spec registry.Spec) (string, error) {
	digest, err := canon.DigestValue(map[string]any{"files": files(spec), "entrypoint": spec.Entrypoint})
	if err != nil {
		return "", fmt.Errorf("digest code: %w", err)
	}
	return digest, nil
}

// files stands for the content of each file by its own digest, so that text and bytes are told apart by nothing else.
func files(spec registry.Spec) map[string]string {
	sums := make(map[string]string, len(spec.Files))
	for path, data := range spec.Files {
		sums[path] = canon.Sum(data)
	}
	return sums
}

// content is what decides how a version runs. An absent list and an empty one are the same.
func content(s registry.Spec) map[string]any {
	return map[string]any{
		"language": s.Language, "runtime": s.Runtime, "files": files(s), "entrypoint": s.Entrypoint,
		"inputSchema": document(s.InputSchema), "outputSchema": document(s.OutputSchema),
		"packages": list(s.Packages), "environment": environment(s.Environment), "secrets": list(s.Secrets),
		"capabilities": map[string]any{
			"hosts": list(s.Capabilities.Hosts), "hostFunctions": list(s.Capabilities.HostFunctions), "subprocess": s.Capabilities.Subprocess,
		},
		"limits": s.Limits, "safetyFlags": list(s.SafetyFlags), "requiresApproval": s.RequiresApproval, "deterministic": s.Deterministic,
	}
}

func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

func environment(e map[string]string) map[string]string {
	if e == nil {
		return map[string]string{}
	}
	return e
}

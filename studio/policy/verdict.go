package policy

import (
	"context"
	"path"
	"strconv"
	"strings"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/digest"
	"github.com/atelier-run/atelier/runtimes/inspect"
)

// importRule is the ID of the rule in the pack "restricted" that limits imports. A program may shorten the rule's list
// of modules.
const importRule = "import"

func number(n int) string { return strconv.Itoa(n) }

// allowedImports returns the modules that a program may import. These are the listed modules, their submodules, and the
// program's own files.
func allowedImports(listed []string, spec registry.Spec) []string {
	allowed := []string{"__future__"}
	for _, name := range listed {
		allowed = append(allowed, name, name+".*")
		for at := strings.LastIndexByte(name, '.'); at > 0; at = strings.LastIndexByte(name[:at], '.') {
			allowed = append(allowed, name[:at]) // Also allow parent modules, as in "from urllib import parse".
		}
	}
	for file := range spec.Files {
		top, _, _ := strings.Cut(file, "/")
		if module := strings.TrimSuffix(top, ".py"); path.Ext(top) == ".py" || top != file {
			allowed = append(allowed, module, module+".*")
		}
	}
	return allowed
}

// Judge returns the verdict about a program in a workspace. before is the spec whose capabilities are already approved,
// or nil if there is none.
func (s *Service) Judge(ctx context.Context, id string, spec registry.Spec, before *registry.Spec) (registry.Verdict, error) {
	w, err := s.of(ctx, id)
	if err != nil {
		return registry.Verdict{}, err
	}
	return s.judge(ctx, w, id, spec, before)
}

func (s *Service) judge(ctx context.Context, w *workspace, id string, spec registry.Spec, before *registry.Spec) (registry.Verdict, error) {
	set, err := s.rulesFor(w, id, spec)
	if err != nil {
		return registry.Verdict{}, err
	}
	found, err := s.factsOf(ctx, spec)
	if err != nil {
		return registry.Verdict{}, err
	}
	var was []capability
	if before != nil {
		earlier, err := s.factsOf(ctx, *before)
		if err != nil {
			return registry.Verdict{}, err
		}
		was = capabilities(*before, earlier.Facts)
	}
	return set.judge(spec, found, was), nil
}

// Version returns the digest of the rules and thresholds that apply to a program.
func (s *Service) Version(ctx context.Context, id string, spec registry.Spec) (string, error) {
	w, err := s.of(ctx, id)
	if err != nil {
		return "", err
	}
	set, err := s.rulesFor(w, id, spec)
	return set.version, err
}

// factsOf returns the facts about a program. The facts are cached by the code digest of the program.
func (s *Service) factsOf(ctx context.Context, spec registry.Spec) (inspect.Facts, error) {
	code, err := digest.Code(spec.Files, spec.Entrypoint)
	if err != nil {
		return inspect.Facts{}, err
	}
	key := string(spec.Language) + " " + code
	if found, ok := s.facts.Get(key); ok {
		return found, nil
	}
	files := make(map[string][]byte, len(spec.Files))
	for name, content := range spec.Files {
		files[name] = content
	}
	found, err := s.Inspector.Facts(ctx, inspect.Request{Language: spec.Language, Runtime: spec.Runtime, Files: files, Entrypoint: spec.Entrypoint})
	if err != nil {
		return found, err
	}
	s.facts.Put(key, found, 200*len(found.Facts)+1000)
	return found, nil
}

// JudgeVersion returns the verdict about the content of a version, without comparing it with others. The verdict is
// cached by content and rules, so that a run of an unchanged version costs only two map lookups.
func (s *Service) JudgeVersion(ctx context.Context, id string, v registry.Version) (registry.Verdict, error) {
	w, err := s.of(ctx, id)
	if err != nil {
		return registry.Verdict{}, err
	}
	key := v.ContentDigest
	w.mu.RLock()
	verdict, ok := w.verdicts[key]
	w.mu.RUnlock()
	if ok {
		return verdict, nil
	}
	spec := v.Spec
	if verdict, err = s.judge(ctx, w, id, spec, &spec); err != nil {
		return verdict, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.verdicts) >= keptVerdicts {
		clear(w.verdicts)
	}
	w.verdicts[key] = verdict
	return verdict, nil
}

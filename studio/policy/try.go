package policy

import (
	"context"
	"slices"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/specs"
)

// Trial is a program with which a person tries out rules. If neither a pack nor a source is given, the active rules of
// the workspace apply.
type Trial struct {
	Language runtimes.Language
	Code     string
	Pack     string // name of a pack; it need not be active
	Rule     string // ID of a single rule to try, or "" for all rules of the pack
	Source   string // YAML of a pack; it need not be stored
}

// Try returns the verdict about a program and stores nothing. A rule applies even if the workspace has disabled it. An
// invalid source is rejected as in PutPack.
func (s *Service) Try(ctx context.Context, actor registry.Actor, trial Trial) (registry.Verdict, error) {
	spec := registry.Spec{Language: trial.Language, Entrypoint: specs.Entrypoint(trial.Language)}
	if trial.Language == runtimes.WASM || spec.Entrypoint == "" {
		return registry.Verdict{}, fault.Invalid("/language", "must be javascript, typescript, python or bash.")
	}
	spec.Files = map[string]registry.File{spec.Entrypoint: registry.File(trial.Code)}
	w, err := s.of(ctx, actor.Workspace)
	if err != nil {
		return registry.Verdict{}, err
	}
	if trial.Pack == "" && trial.Source == "" {
		return s.judge(ctx, w, actor.Workspace, spec, &spec)
	}
	tried, err := s.tried(w, trial)
	if err != nil {
		return registry.Verdict{}, err
	}
	return s.judge(ctx, tried, actor.Workspace, spec, &spec)
}

// tried returns the gate of a workspace with only the rules of a trial.
func (s *Service) tried(w *workspace, trial Trial) (*workspace, error) {
	name, pack := trial.Pack, Pack{}
	if trial.Source != "" {
		var err error
		if pack, err = Parse([]byte(trial.Source)); err != nil {
			return nil, err
		}
		name = pack.Name
		if _, ok := s.built[name]; ok {
			return nil, fault.New(fault.NameTaken, "%s is a built-in pack. Choose another name.", name)
		}
	} else {
		var ok bool
		if pack, ok = s.pack(w, name); !ok {
			return nil, fault.Invalid("/pack", "must be the name of a rule pack; this workspace has no such pack.")
		}
	}
	settings := w.settings
	settings.Packs, settings.DisabledRules = []string{name}, nil
	if trial.Rule != "" {
		if !slices.ContainsFunc(pack.Rules, func(r Rule) bool { return r.ID == trial.Rule }) {
			return nil, fault.Invalid("/rule", "must be the ID of a rule of the pack %s.", name)
		}
		for _, r := range pack.Rules {
			if r.ID != trial.Rule {
				settings.DisabledRules = append(settings.DisabledRules, name+"/"+r.ID)
			}
		}
	}
	return &workspace{settings: settings, packs: map[string]Pack{name: pack}}, nil
}

package agents

import (
	"bytes"
	"context"
	"regexp"
	"slices"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/registry"
)

// inferSchemas sets the schemas of a new draft from the types in its program. If the types describe nothing or cannot
// be read, the default schemas stay, because a failed inference must not prevent creating an agent.
func (s *Service) inferSchemas(ctx context.Context, actor registry.Actor, draft *registry.Draft) {
	if s.Inference == nil {
		return
	}
	found, err := s.Inference.Quick(ctx, actor, draft.Spec) // Quick does not wait for packages.
	if err != nil {
		return
	}
	sources := registry.SchemaSources{}
	if !same(found.InputSchema, draft.InputSchema) {
		draft.InputSchema, sources.Input = found.InputSchema, found.SchemaSources.Input
	}
	// TypeScript infers a type for every result, even if the author declared none. Such an output schema could reject
	// results after the next edit, so it is not set here. The Studio offers it to the author instead.
	if found.SchemaSources.Output.Source != registry.FromTypeScript && !same(found.OutputSchema, draft.OutputSchema) {
		draft.OutputSchema, sources.Output = found.OutputSchema, found.SchemaSources.Output
	}
	if sources.Input != nil || sources.Output != nil {
		draft.SchemaSources = &sources
	}
}

// same reports whether two JSON texts have the same value.
func same(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	first, err := jcs.Digest(a)
	if err != nil {
		return false
	}
	second, err := jcs.Digest(b)
	return err == nil && first == second
}

var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// setSources sets the sources of the schemas of a draft. A changed schema gets the source that the input names. An
// unchanged schema keeps its source if the input names none.
func setSources(draft *registry.Draft, before registry.Spec, named *registry.SchemaSources) error {
	if named == nil {
		named = &registry.SchemaSources{}
	}
	kept := registry.SchemaSources{}
	if draft.SchemaSources != nil {
		kept = *draft.SchemaSources
	}
	for _, one := range []struct {
		field  string
		source **registry.SchemaSource
		named  *registry.SchemaSource
		same   bool
	}{
		{"/schemaSources/input", &kept.Input, named.Input, same(before.InputSchema, draft.InputSchema)},
		{"/schemaSources/output", &kept.Output, named.Output, same(before.OutputSchema, draft.OutputSchema)},
	} {
		switch {
		case one.named != nil:
			if err := checkSource(one.field, *one.named); err != nil {
				return err
			}
			*one.source = one.named
		case !one.same:
			*one.source = nil
		}
		if *one.source != nil && (*one.source).Source == registry.FromJSONSchema {
			*one.source = nil
		}
	}
	draft.SchemaSources = nil
	if kept.Input != nil || kept.Output != nil {
		draft.SchemaSources = &kept
	}
	return nil
}

func checkSource(field string, source registry.SchemaSource) error {
	if !slices.Contains(registry.SchemaOrigins(), source.Source) {
		return fault.Invalid(field+"/source", "must be json_schema, python, pydantic, typescript, zod, standard_schema or sample.")
	}
	needed := source.Source != registry.FromJSONSchema && source.Source != registry.FromSample
	if needed && !digestForm.MatchString(source.CodeDigest) {
		return fault.Invalid(field+"/codeDigest", "must be the digest of the code that the schema came from, as POST /infer returns it.")
	}
	if !needed && source.CodeDigest != "" {
		return fault.Invalid(field+"/codeDigest", "must be absent for the source %s.", source.Source)
	}
	return nil
}

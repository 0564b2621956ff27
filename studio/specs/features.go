package specs

import (
	"slices"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/packages"
)

// CheckFeatures sets the function that returns the features of a runtime. The checker then rejects programs that need a
// feature which their runtime lacks. CheckFeatures must be called before the checker is used.
func (c *Checker) CheckFeatures(features func(runtimes.Name) ([]runtimes.Feature, bool)) {
	c.features = features
}

// need is a feature that a program may need, with the field that requests the feature.
type need struct {
	feature runtimes.Feature
	field   string
	needed  bool
	must    string // condition that the field must meet if the feature is missing, for the error message
}

func needs(spec registry.Spec) []need {
	return []need{
		{runtimes.FilesFeature, "/files", len(spec.Files) > 1, "have only the entry file"},
		{runtimes.PackagesFeature, "/packages", packages.Needed(spec), "be empty"},
		{runtimes.HostsFeature, "/capabilities/hosts", len(spec.Capabilities.Hosts) > 0, "be empty"},
		{runtimes.SubprocessFeature, "/capabilities/subprocess", spec.Capabilities.Subprocess, "be false"},
		{runtimes.ToolsFeature, "/capabilities/tools", len(spec.Capabilities.Tools) > 0, "be empty"},
		{runtimes.ProjectsFeature, "/capabilities/files", spec.Capabilities.Files != nil, "be left out"},
		{runtimes.RulesFeature, "/rules", spec.Rules != nil, "be absent"},
		{runtimes.StrictFeature, "/isolation", spec.Isolation == runtimes.Strict, "be left out"},
	}
}

// checkFeatures adds an error for each field that requests a feature which the runtime lacks. If the runtime is auto,
// it is enough that one runtime of the language has the feature.
func (c *Checker) checkFeatures(faults *faults, spec registry.Spec, name runtimes.Name) {
	if c.features == nil {
		return
	}
	has, known := c.features(name)
	if !known { // Only the test runtime "script" is unknown; it accepts every program.
		return
	}
	for _, n := range needs(spec) {
		if !n.needed || slices.Contains(has, n.feature) {
			continue
		}
		others := c.having(spec, n.feature)
		switch {
		case len(others) == 0:
			faults.addf(n.field, "must %s, because the runtime %s does not have the feature %s.", n.must, name, n.feature)
		case spec.Runtime != runtimes.Auto && spec.Runtime != "":
			faults.addf(n.field, "must %s, because the runtime %s does not have the feature %s; choose %s.", n.must, name, n.feature, join(others))
		}
	}
}

// having returns the runtimes of a language that have a feature.
func (c *Checker) having(spec registry.Spec, feature runtimes.Feature) (others []runtimes.Name) {
	for _, name := range Runtimes(spec.Language) {
		if has, known := c.features(name); known && slices.Contains(has, feature) {
			others = append(others, name)
		}
	}
	return others
}

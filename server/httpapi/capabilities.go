package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/runtimes"
)

// Capabilities is what this server can do.
type Capabilities struct {
	Languages     []LanguageState `json:"languages"`
	Limits        LimitBounds     `json:"limits"`
	Sandbox       SandboxState    `json:"sandbox"`
	HostFunctions []string        `json:"hostFunctions"`
	ExportFormats []string        `json:"exportFormats"`
}

// LanguageState says whether a language can be run here, by which runtimes, and why not.
type LanguageState struct {
	Language    runtimes.Language `json:"language"`
	Runtimes    []runtimes.Name   `json:"runtimes"`
	Entrypoint  string            `json:"entrypoint" doc:"Default entry file."`
	Available   bool              `json:"available"`
	Interpreter string            `json:"interpreter,omitempty"`
	Reason      string            `json:"reason,omitempty"`
	Engines     []EngineState     `json:"engines,omitempty" doc:"State of each runtime. Absent if none is available."`
}

// EngineState says whether one runtime of a language is there, and what to install where it is not.
type EngineState struct {
	Runtime     runtimes.Name `json:"runtime"`
	Available   bool          `json:"available"`
	Interpreter string        `json:"interpreter,omitempty"`
	Version     string        `json:"version,omitempty" doc:"Version of the language, for example 3.11. Absent if unknown."`
	Reason      string        `json:"reason,omitempty"`
}

// LimitBounds are the limits that a version has by default, and the highest that it may ask for.
type LimitBounds struct {
	Defaults runtimes.Limits `json:"defaults"`
	Ceilings runtimes.Limits `json:"ceilings"`
}

// SandboxState is how much of the sandbox this host enforces, and what is missing.
type SandboxState struct {
	Level   string   `json:"level" enum:"full,reduced,none"`
	Missing []string `json:"missing"`
}

func (a *API) getCapabilities() {
	type out struct{ Body Capabilities }
	add(a, endpoint{
		id: "getCapabilities", method: http.MethodGet, path: Base + "/capabilities", tag: "server", summary: "Get the capabilities of this server",
	}, func(context.Context, *none) (*out, error) {
		return &out{Body: a.House.Capabilities()}, nil
	})
}

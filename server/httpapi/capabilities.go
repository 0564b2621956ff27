package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/runtimes"
)

// Capabilities lists the features of this server.
type Capabilities struct {
	Languages     []LanguageState `json:"languages"`
	Limits        LimitBounds     `json:"limits"`
	Sandbox       SandboxState    `json:"sandbox"`
	HostFunctions []string        `json:"hostFunctions"`
	ExportFormats []string        `json:"exportFormats"`
	LanguageModel string          `json:"languageModel,omitempty" doc:"Name of the language model that helps to write programs. Absent if the workspace of the caller cannot use one."`
}

// LanguageState reports whether a language can run here and with which runtimes. If the language cannot run, it
// contains the reason.
type LanguageState struct {
	Language    runtimes.Language `json:"language"`
	Runtimes    []runtimes.Name   `json:"runtimes"`
	Entrypoint  string            `json:"entrypoint" doc:"Default entry file."`
	Available   bool              `json:"available"`
	Interpreter string            `json:"interpreter,omitempty"`
	Reason      string            `json:"reason,omitempty"`
	Engines     []EngineState     `json:"engines,omitempty" doc:"State of each runtime. Absent if none is available."`
}

// EngineState reports whether one runtime of a language is available. If not, it names the package to install.
type EngineState struct {
	Runtime     runtimes.Name `json:"runtime"`
	Available   bool          `json:"available"`
	Interpreter string        `json:"interpreter,omitempty"`
	Version     string        `json:"version,omitempty" doc:"Version of the language, for example 3.11. Absent if unknown."`
	Reason      string        `json:"reason,omitempty"`
}

// LimitBounds holds the default limits and the highest limits of a version.
type LimitBounds struct {
	Defaults runtimes.Limits `json:"defaults"`
	Ceilings runtimes.Limits `json:"ceilings"`
}

// SandboxState reports which parts of the sandbox this host enforces, and which parts are missing.
type SandboxState struct {
	Level   string   `json:"level" enum:"full,reduced,none"`
	Missing []string `json:"missing"`
}

func (a *API) getCapabilities() {
	type out struct{ Body Capabilities }
	add(a, endpoint{
		id: "getCapabilities", method: http.MethodGet, path: Base + "/capabilities", tag: "server", summary: "Get the capabilities of this server",
		about: "Features and limits of this server: languages, runtimes, ceilings, isolation. Only the language model changes while the server runs.",
	}, func(ctx context.Context, _ *none) (*out, error) {
		found, err := a.StatusProvider.Capabilities(ctx, actor(ctx).Workspace)
		return &out{Body: found}, err
	})
}

package registry

import (
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
)

// RuntimeReason is a one-word reason why auto selected a runtime.
type RuntimeReason string

// These are the values of RuntimeReason.
const (
	RuntimeFits        RuntimeReason = "fits"        // goja has every feature that the program uses
	RuntimeGap         RuntimeReason = "gap"         // the program uses features that goja lacks
	RuntimeSlow        RuntimeReason = "slow"        // the draft ran slowly in goja
	RuntimeUnavailable RuntimeReason = "unavailable" // the program would run in Node, but this server has no Node
)

// RuntimeChoice is the runtime that auto selected, with the reason. Gaps lists the features that the program uses and
// goja lacks, each with its file, line and column.
type RuntimeChoice struct {
	Runtime runtimes.Name  `json:"runtime"`
	Reason  RuntimeReason  `json:"reason" enum:"fits,gap,slow,unavailable"`
	Message string         `json:"message" doc:"The reason as a sentence."`
	Gaps    []fault.Detail `json:"gaps,omitempty"`
	Runs    int            `json:"runs,omitempty" doc:"Number of measured runs of this draft in goja."`
	CPUMs   float64        `json:"cpuMs,omitempty" doc:"Median CPU time of the measured runs, in milliseconds."`
}

package registry

import (
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
)

// RuntimeReason says in one word why auto became a runtime.
type RuntimeReason string

// The reasons.
const (
	RuntimeFits        RuntimeReason = "fits"        // goja has all that the program uses
	RuntimeGap         RuntimeReason = "gap"         // the program uses what goja lacks
	RuntimeSlow        RuntimeReason = "slow"        // the draft took long in goja
	RuntimeUnavailable RuntimeReason = "unavailable" // Node would be right, and is not on this server
)

// RuntimeChoice is what auto became, and why. Gaps are what the program uses and goja lacks, by file, line and column.
type RuntimeChoice struct {
	Runtime runtimes.Name  `json:"runtime"`
	Reason  RuntimeReason  `json:"reason" enum:"fits,gap,slow,unavailable"`
	Message string         `json:"message" doc:"The reason as a sentence."`
	Gaps    []fault.Detail `json:"gaps,omitempty"`
	Runs    int            `json:"runs,omitempty" doc:"Number of measured runs of this draft in goja."`
	CPUMs   float64        `json:"cpuMs,omitempty" doc:"Median of their CPU time, in milliseconds."`
}

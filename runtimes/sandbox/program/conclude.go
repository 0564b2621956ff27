package program

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
)

// Conclude reads the end message of an interpreter's guest script, or explains why there is none. crash explains a
// signal that ended the interpreter.
func Conclude(result frames.Result, crash func(signal int) *runtimes.ProgramError) (frames.Result, Report) {
	var report Report
	if result.Error != nil {
		return result, report
	}
	var end struct {
		Output json.RawMessage        `json:"output"`
		Error  *runtimes.ProgramError `json:"error"`
	}
	told := json.Unmarshal(result.Stats, &report) == nil && report.End != nil && json.Unmarshal(report.End, &end) == nil
	switch {
	case report.Huge:
		result.Error = &runtimes.ProgramError{Type: runtimes.OutputLimit}
	case told && end.Error != nil:
		result.Error = end.Error
	case told:
		result.Output = end.Output
		result.Signal = 0 // it ended after its result, so the signal does not matter
	case result.Signal != 0:
		result.Error = crash(result.Signal)
	default:
		code := 0
		if result.ExitCode != nil {
			code = *result.ExitCode
		}
		result.Error = &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: fmt.Sprintf("The program ended with exit code %d before main returned.", code)}
	}
	if result.Error != nil {
		result.Error.Message = strings.TrimSpace(result.Error.Message)
	}
	return result, report
}

package program

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
)

// ReadReport returns the report of the program role. If the program's end message was sent in Part frames, the report
// contains it too.
func ReadReport(result frames.Result) (Report, error) {
	var report Report
	if err := json.Unmarshal(result.Stats, &report); err != nil {
		return Report{}, fmt.Errorf("read report: %w", err)
	}
	if report.Ahead {
		var message Message
		if err := json.Unmarshal(result.Parts, &message); err == nil { // if this fails, the program sent no end message
			report.End = message.End
		}
	}
	return report, nil
}

// ReadFile returns the content and the state of the result file. If the file is invalid, flaw describes the error.
func ReadFile(result frames.Result, report Report, largest int64) (content json.RawMessage, state FileState, flaw string) {
	if report.File != FileRead {
		return nil, report.File, ""
	}
	return CheckFile(result.Parts, largest)
}

// CheckFile returns the content and the state of a result file that was already read. If the file is invalid, flaw
// describes the error.
func CheckFile(file []byte, largest int64) (content json.RawMessage, state FileState, flaw string) {
	text := bytes.TrimSpace(file)
	switch {
	case len(text) == 0:
		return nil, FileAbsent, ""
	case int64(len(text)) > largest:
		return nil, FileTooLarge, ""
	}
	if err := json.Unmarshal(text, &content); err != nil {
		return nil, FileInvalid, err.Error()
	}
	return content, FileValid, ""
}

// Conclude completes a result with the end message of an interpreter's guest script. If there is none, it sets an error
// with the reason. crash returns the error for a signal that ended the interpreter.
func Conclude(result frames.Result, crash func(signal int) *runtimes.ProgramError) (frames.Result, Report) {
	if result.Error != nil {
		return result, Report{}
	}
	report, err := ReadReport(result)
	var end struct {
		Output json.RawMessage        `json:"output"`
		Error  *runtimes.ProgramError `json:"error"`
	}
	ended := err == nil && report.End != nil && json.Unmarshal(report.End, &end) == nil
	switch {
	case report.Huge:
		result.Error = &runtimes.ProgramError{Type: runtimes.OutputLimit}
	case ended && end.Error != nil:
		result.Error = end.Error
	case ended:
		result.Output = end.Output
		result.Signal = 0 // ignore the signal, because the result was sent before the interpreter ended
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

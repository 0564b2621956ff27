package bundle

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
)

// problems converts esbuild's messages to problems in the agent's files. Columns are in UTF-16 units, as editors count
// them.
func problems(src Source, code string, messages []api.Message) []fault.Detail {
	var all []fault.Detail
	for _, message := range messages[:min(len(messages), MaxProblems)] {
		detail := fault.Detail{Code: code, Message: sentence(message)}
		if message.PluginName == pluginName {
			detail.Code = CodeImport
		}
		if at := message.Location; at != nil {
			detail.File = strings.TrimPrefix(at.File, namespace+":")
			detail.Line = at.Line
			detail.Column = len(utf16.Encode([]rune(at.LineText[:min(at.Column, len(at.LineText))]))) + 1
			clamp(&detail, src.Files[detail.File])
		}
		all = append(all, detail)
	}
	return all
}

// sentence returns the text of an esbuild message. It adds the first note if that is an explanation without a position
// of its own.
func sentence(message api.Message) string {
	text := message.Text
	if len(message.Notes) > 0 && message.Notes[0].Location == nil && message.PluginName != pluginName {
		text = strings.TrimSuffix(text, ".") + ". " + message.Notes[0].Text
	}
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// clamp moves a position in the suffix that was appended to the entrypoint to the end of the user's file.
func clamp(detail *fault.Detail, text []byte) {
	lines := strings.Split(string(text), "\n")
	if detail.Line > len(lines) {
		detail.Line = len(lines)
		detail.Column = len(utf16.Encode([]rune(lines[len(lines)-1]))) + 1
	}
}

// Failure converts problems to the error of a run: the first problem, and the number of further problems.
func Failure(details []fault.Detail) *runtimes.ProgramError {
	if len(details) == 0 {
		return &runtimes.ProgramError{Type: runtimes.SyntaxError, Message: "The program is not readable."}
	}
	first := details[0]
	e := &runtimes.ProgramError{Type: runtimes.SyntaxError, Message: first.Message, File: first.File, Line: first.Line, Column: first.Column}
	if len(details) > 1 {
		e.Message += fmt.Sprintf(" (and %d more)", len(details)-1)
	}
	return e
}

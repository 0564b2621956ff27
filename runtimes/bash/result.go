package bash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
)

// end is the prelude's message when the script ends with a code other than 0. File and Line are zero if unknown.
type end struct {
	Command  string `json:"command"`
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
}

// interpret maps an exit code and the output to a result, as the contract of a script defines.
func (s *transcript) interpret(result frames.Result) frames.Result {
	if result.Error != nil {
		return result
	}
	// If the prelude has reported no end, the exit code and the signal determine the result.
	report, _ := program.ReadReport(result)
	switch {
	case result.Signal == int(syscall.SIGSEGV):
		// No process inside the sandbox can send SIGSEGV to process 1. So the stack of Bash's own parser has
		// overflowed.
		result.Error = &runtimes.ProgramError{
			Type: runtimes.RecursionLimit, Message: "The script is nested too deeply: Bash ran out of stack (signal 11).",
			Remedy: "Reduce the nesting of brackets, expansions and calls.",
		}
	case result.Signal != 0:
		result.Error = &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: fmt.Sprintf("The script was killed by signal %d.", result.Signal)}
	case result.ExitCode == nil || *result.ExitCode != 0:
		code := 1
		if result.ExitCode != nil {
			code = *result.ExitCode
		}
		result.Error = s.failure(code, report.End)
	default:
		result.Output, result.Error = s.output(program.ReadFile(result, report, s.limits.OutputBytes))
	}
	return result
}

// output returns the content of the file $OUTPUT. If the script did not write the file, output uses stdout: the last
// line if that line is JSON, otherwise all of stdout, as JSON if possible and else as text.
func (s *transcript) output(file json.RawMessage, state program.FileState, flaw string) (json.RawMessage, *runtimes.ProgramError) {
	switch state {
	case program.FileValid:
		return file, nil
	case program.FileInvalid:
		return nil, &runtimes.ProgramError{
			Type: runtimes.InvalidOutput, Message: "output: the file $OUTPUT is not valid JSON: " + flaw,
			Remedy: "Write one JSON value to \"$OUTPUT\", for example with jq -n.",
		}
	case program.FileTooLarge:
		return nil, &runtimes.ProgramError{Type: runtimes.OutputLimit}
	case program.FileIrregular:
		return nil, &runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "output: $OUTPUT must be a regular file."}
	}
	printed := s.stdout.Bytes()
	last := bytes.TrimRight(printed, " \t\r\n")
	last = bytes.TrimSpace(last[bytes.LastIndexByte(last, '\n')+1:])
	if len(last) > 0 && isJSON(last) {
		return last, nil
	}
	if whole := bytes.TrimSpace(printed); isJSON(whole) { // jq prints JSON on several lines
		return whole, nil
	}
	return text(printed, int(s.limits.OutputBytes)), nil
}

// isJSON reports whether text is one JSON value. encoding/json rejects values with more than 10,000 levels. isJSON
// accepts such values if their brackets match, because the later check of results reports the excessive nesting.
func isJSON(text []byte) bool {
	if json.Valid(text) {
		return true
	}
	depth, deepest, inString := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '[' || c == '{':
			if depth == 0 && i > 0 {
				return false
			}
			depth++
			deepest = max(deepest, depth)
		case c == ']' || c == '}':
			depth--
		}
	}
	return depth == 0 && !inString && deepest > jcs.MaxDepth
}

// text encodes the printed text as JSON. If quoting makes it larger than the limit of a result, only the end of the text is
// kept.
func text(printed []byte, limit int) json.RawMessage {
	valid := strings.ToValidUTF8(string(printed), "\uFFFD")
	whole := encode(map[string]any{"stdout": valid})
	for keep := len(valid); len(whole) > limit && keep > 0; {
		keep = keep * 2 / 3
		whole = encode(map[string]any{"stdout": strings.ToValidUTF8(valid[len(valid)-keep:], ""), "truncated": true})
	}
	return whole
}

func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil { // strings and booleans always encode without error
		return nil
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// complaint matches Bash's error messages: file, line, message.
var complaint = regexp.MustCompile(`^(.+?): line ([0-9]+): (.*)$`)

// failure returns the error for an exit code. It finds the cause in Bash's messages and the prelude's report.
func (s *transcript) failure(code int, report json.RawMessage) *runtimes.ProgramError {
	var known end
	if report != nil && json.Unmarshal(report, &known) != nil {
		known = end{}
	}
	e := &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: fmt.Sprintf("The script exited with code %d.", code)}
	lines := strings.Split(strings.TrimRight(strings.ToValidUTF8(string(s.stderr), "\uFFFD"), "\n"), "\n")
	if s.syntax(e, lines) {
		return e
	}
	if known.Line > 0 {
		e.File, e.Line = s.file(known.File), known.Line
	}
	last := lines[len(lines)-1]
	if file, line, message, ok := s.complaint(last); ok {
		e.File, e.Line, e.Message = file, line, fmt.Sprintf("%s (exit code %d)", message, code)
	} else if strings.HasPrefix(last, "atelier: ") {
		e.Message = fmt.Sprintf("%s (exit code %d)", last, code)
	} else if known.Line > 0 && known.Command != "" && !strings.HasPrefix(known.Command, "exit") && !strings.HasPrefix(known.Command, "return") {
		e.Message = fmt.Sprintf("The script exited with code %d: the command %s failed.", code, quote(known.Command))
		if known.Function != "" {
			e.Message = fmt.Sprintf("The script exited with code %d: in the function %s the command %s failed.", code, known.Function, quote(known.Command))
		}
	}
	e.Type = kind(code, string(s.stderr))
	if chose(known.Command) {
		return e
	}
	if strings.HasPrefix(last, "atelier: denied: ") {
		e.Type = runtimes.Denied
	}
	if s.restricted && strings.HasPrefix(last, deniedBy) {
		applyRule(e, last)
	}
	if e.Type == runtimes.RuntimeError {
		deny(e, lines, code, known.Command)
	}
	s.stopped = stopped(code, known.Command) || e.Type == runtimes.Denied
	return e
}

// kind returns the limit that the exit code or the error messages of the script's commands indicate. If the kernel's
// counters show another limit, that limit is reported instead.
func kind(code int, stderr string) runtimes.ErrorType {
	const sizeExceeded = 128 + 25 // exit code of a process that died of SIGXFSZ
	switch {
	case code == sizeExceeded || strings.Contains(stderr, "No space left on device") || strings.Contains(stderr, "File too large"):
		return runtimes.DiskLimit
	case strings.Contains(stderr, "fork: ") && strings.Contains(stderr, "Resource temporarily unavailable"):
		return runtimes.ProcessLimit
	case strings.Contains(stderr, "annot allocate memory") || strings.Contains(stderr, "xmalloc: ") || strings.Contains(stderr, "xrealloc: "):
		return runtimes.MemoryLimit
	case strings.Contains(stderr, "maximum function nesting level exceeded"):
		return runtimes.RecursionLimit
	}
	return runtimes.RuntimeError
}

// syntax finds a message of Bash's parser at the end of stderr.
func (s *transcript) syntax(e *runtimes.ProgramError, lines []string) bool {
	const near = 4 // the parser prints the offending line after its message, and an EXIT trap of the script may print more
	for i := len(lines) - 1; i >= max(0, len(lines)-near); i-- {
		file, line, message, ok := s.complaint(lines[i])
		if ok && (strings.HasPrefix(message, "syntax error") || strings.HasPrefix(message, "unexpected EOF while looking for")) {
			e.Type, e.File, e.Line, e.Message = runtimes.SyntaxError, file, line, message
			return true
		}
	}
	return false
}

func (s *transcript) complaint(text string) (file string, line int, message string, ok bool) {
	found := complaint.FindStringSubmatch(text)
	if found == nil {
		return "", 0, "", false
	}
	line, err := strconv.Atoi(found[2])
	file = s.file(found[1])
	return file, line, found[3], err == nil && file != ""
}

// file returns the agent's file that a name refers to, or "" if there is none.
func (s *transcript) file(name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "/work/"), "./")
	if _, ok := s.files[name]; ok {
		return name
	}
	return ""
}

func quote(command string) string {
	const longest = 200
	if len(command) > longest {
		command = strings.ToValidUTF8(command[:longest], "") + "…"
	}
	return strconv.Quote(command)
}

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/terminal"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// console prints a run: the output to stdout, and logs and messages to stderr. On stderr, the text of a program can
// change the colours of the terminal, but has no other effect on it.
type console struct {
	out   io.Writer
	plain bool // whether out is not a terminal, so that the output is copied byte for byte
	err   *terminal.Filter
	quiet bool
	whole bool // whether to print the whole result even if the program failed
}

func newConsole(p Process, quiet, whole bool) *console {
	return &console{out: p.Stdout, plain: !isTerminal(p.Stdout), err: terminal.NewFilter(p.Stderr, isTerminal(p.Stderr)), quiet: quiet, whole: whole}
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// show prints one event. If the event is the result of the run, show returns true. If the program failed, show prints
// the error and returns errTold.
func (c *console) show(e runtimes.Event) (ended bool, err error) {
	switch e.Kind {
	case runtimes.KindStdout, runtimes.KindStderr:
		var text string
		return false, c.tell(e, &text, func() string { return text })
	case runtimes.KindLog:
		var log runtimes.LogData
		return false, c.tell(e, &log, func() string { return logLine(log) })
	case runtimes.KindProgress:
		var progress runtimes.ProgressData
		return false, c.tell(e, &progress, func() string { return progressLine(progress) })
	case runtimes.KindDropped:
		var dropped runtimes.DroppedData
		return false, c.tell(e, &dropped, func() string {
			return fmt.Sprintf("[%s of output dropped: over the limit]\n", bytesize.Text(dropped.Bytes))
		})
	case runtimes.KindStatus:
		var status runtimes.StatusData
		return false, c.tell(e, &status, func() string { return queueLine(status) })
	case runtimes.KindResult:
		return true, c.finish(e)
	case runtimes.KindEgress:
		var egress runtimes.EgressData
		return false, c.tell(e, &egress, func() string { return egressLine(egress) })
	case runtimes.KindCall:
	}
	return false, nil
}

// egressLine describes a network request of a program and its outcome in one line.
func egressLine(e runtimes.EgressData) string {
	name := net.JoinHostPort(e.Host, strconv.Itoa(int(e.Port)))
	switch e.Decision {
	case runtimes.EgressDenied:
		return fmt.Sprintf("[%s denied by %s]\n", name, e.Rule)
	case runtimes.EgressFailed:
		return fmt.Sprintf("[%s is unreachable]\n", name)
	default:
		return fmt.Sprintf("[→ %s · %s · %.0f ms]\n", name, bytesize.Text(e.Bytes), e.Ms)
	}
}

func (c *console) tell(e runtimes.Event, into any, text func() string) error {
	if c.quiet {
		return nil
	}
	if err := json.Unmarshal(e.Data, into); err != nil {
		return fmt.Errorf("read event %d: %w", e.Seq, err)
	}
	c.err.Print(text())
	return nil
}

func logLine(log runtimes.LogData) string {
	line := log.Level + "  " + log.Message
	if len(log.Fields) > 0 && string(log.Fields) != "null" && string(log.Fields) != "{}" {
		line += "  " + string(log.Fields)
	}
	return line + "\n"
}

func progressLine(p runtimes.ProgressData) string {
	line := fmt.Sprintf("progress  %g", p.Done)
	if p.Total > 0 {
		line += fmt.Sprintf("/%g", p.Total)
	}
	if p.Message != "" {
		line += "  " + p.Message
	}
	return line + "\n"
}

func queueLine(s runtimes.StatusData) string {
	switch expected := time.Duration(s.ExpectedWaitMs) * time.Millisecond; {
	case s.Position == 0:
		return ""
	case expected < time.Second:
		return fmt.Sprintf("queued  %d\n", s.Position)
	default:
		return fmt.Sprintf("queued  %d, about %s\n", s.Position, expected.Round(time.Second))
	}
}

// finish prints the output of a successful program. If the program failed, it prints the error.
func (c *console) finish(e runtimes.Event) error {
	var answer struct {
		Status registry.Status        `json:"status"`
		Output json.RawMessage        `json:"output"`
		Error  *runtimes.ProgramError `json:"error"`
	}
	if err := json.Unmarshal(e.Data, &answer); err != nil {
		return fmt.Errorf("read the result: %w", err)
	}
	c.err.End()
	if c.whole {
		answer.Output = e.Data
	}
	if c.whole || answer.Status == registry.Succeeded {
		text := string(answer.Output)
		if !c.plain {
			text = terminal.EscapeJSON(text)
		}
		if _, err := io.WriteString(c.out, text+"\n"); err != nil || answer.Status == registry.Succeeded {
			return err
		}
	}
	c.err.Print(failure(string(answer.Status), answer.Error))
	c.err.End()
	return errTold
}

// failure formats a program's error in a few lines.
func failure(status string, e *runtimes.ProgramError) string {
	if e == nil {
		return status + "\n"
	}
	text := string(e.Type) + ": " + e.Message + "\n"
	if e.File != "" {
		text += fmt.Sprintf("  at %s:%d:%d\n", e.File, e.Line, e.Column)
	}
	if e.Stack != "" && e.Stack != e.Message {
		text += strings.TrimRight(e.Stack, "\n") + "\n"
	}
	if e.Rule != "" {
		text += "Rule: " + e.Rule + "\n"
	}
	if e.Remedy != "" {
		text += e.Remedy + "\n"
	}
	return text
}

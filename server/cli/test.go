package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/app"
	"github.com/atelier-run/atelier/studio/access"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/tests"
)

type testCommand struct {
	Target string   `arg:"" help:"Folder with agent.yaml and tests.yaml, or reference (weather for its draft, weather@1.0.0)." placeholder:"DIR|REF"`
	Only   []string `field:"names" help:"Run only the test with this name. Repeatable." placeholder:"NAME"`
	JUnit  string   `name:"junit" help:"Also write the results as JUnit XML to a file, or to stdout with -." placeholder:"FILE|-"`
	Watch  bool     `help:"Run the tests again whenever a file of the folder changes, until interrupted."`
	seen
	asked
}

// Help returns the text above the flags.
func (*testCommand) Help() string {
	return "Each result is printed, with the differences of failed tests. Exit codes: 0 if all tests passed, 1 if a test failed or there is none, 2 wrong usage, 3 if the folder is not valid.\n\n" +
		"The tests of a folder run in the sandbox of this machine, without a server. The tests of a reference run on the server of --server, " +
		"else on the running server of the data directory. If there is none, they run in this process, with the database of the data directory."
}

func (c *testCommand) run(ctx context.Context, p Process) error {
	info, err := os.Stat(c.Target)
	switch {
	case c.JSON && (c.JUnit == "-" || c.Watch):
		return misusedf("--json cannot be combined with --junit - or --watch")
	case err == nil && !info.IsDir():
		return misusedf("%s must be a folder with agent.yaml, or a reference", c.Target)
	case err == nil && c.Revision != 0:
		return misusedf("--revision is for the draft of a reference; %s is a folder", c.Target)
	case err == nil:
		return c.runFolder(ctx, p)
	case looksLikePath(c.Target):
		return misusedf("no folder named %s", c.Target)
	case c.Watch:
		return misusedf("--watch is for a folder; %s is a reference", c.Target)
	}
	return c.runReference(ctx, p)
}

// runFolder runs the tests of a folder in the sandbox of this machine.
func (c *testCommand) runFolder(ctx context.Context, p Process) (err error) {
	settings, err := p.load(c.flags(), c.Config)
	if err != nil {
		return err
	}
	settings.Warm = 1
	local, err := app.OpenLocal(ctx, settings, p.Exe, p.Version, p.quietLog())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, local.Close()) }()
	if !c.Watch {
		return c.once(ctx, p, local)
	}
	last := ""
	for {
		now, err := stateOf(c.Target)
		if err != nil {
			return err
		}
		if now != last {
			last = now
			if err := c.once(ctx, p, local); err != nil && ctx.Err() == nil {
				_, _ = fmt.Fprintln(p.Stderr, "atelier: "+lines(sentence(err)))
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchEvery):
		}
	}
}

// watchEvery is the interval at which --watch checks the folder for changes.
const watchEvery = 300 * time.Millisecond

// stateOf returns a text that changes whenever a file of the folder changes.
func stateOf(dir string) (string, error) {
	var state strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != dir && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !entry.Type().IsRegular():
			return nil
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // An editor may remove a file for a moment while it replaces the file.
		}
		if err == nil {
			_, _ = fmt.Fprintf(&state, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	return state.String(), err
}

// once runs the tests of a folder once.
func (c *testCommand) once(ctx context.Context, p Process, local *app.Local) error {
	folder, err := agents.ReadFolder(os.DirFS(c.Target))
	if err != nil {
		return err
	}
	spec, err := local.Complete(agents.SpecOf(folder.Agent))
	if err != nil {
		return err
	}
	plan, err := local.Tests.PrepareSpec(access.Administrator(), spec, *folder.Agent.Tests, c.Only, registry.TriggerCLI)
	if err != nil {
		return err
	}
	out := c.results(p, c.Target)
	if folder.Agent.Name != nil {
		out.name = *folder.Agent.Name
	}
	report, err := plan.Run(ctx, out.show)
	if err != nil {
		return err
	}
	return out.finish(report)
}

// runReference runs the tests of a draft or version on a server.
func (c *testCommand) runReference(ctx context.Context, p Process) error {
	ref, err := registry.ParseReference(c.Target)
	if err != nil {
		return misused{fmt.Errorf("%s: %s", c.Target, sentence(err))}
	}
	body := c.in(map[string]any{"names": append([]string{}, c.Only...)})
	if ref.Version != "" {
		body["version"] = ref.Version
	}
	out := c.results(p, c.Target)
	return c.with(ctx, p, func(server *client) error {
		var report *tests.Report
		accept := map[string]string{"Accept": "text/event-stream"}
		err := server.exchange(ctx, http.MethodPost, agentPath(ref.Agent)+"/tests/run", body, accept, func(_ http.Header, stream io.Reader) error {
			return namedEvents(stream, func(name string, data []byte) error {
				switch name {
				case "result":
					var result tests.Result
					if err := json.Unmarshal(data, &result); err != nil {
						return err
					}
					out.show(result)
				case "report":
					return json.Unmarshal(data, &report)
				case "problem":
					var problem struct {
						Code   fault.Code
						Detail string
					}
					if err := json.Unmarshal(data, &problem); err != nil {
						return err
					}
					return &fault.Error{Code: problem.Code, Message: problem.Detail}
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
		if report == nil {
			return fmt.Errorf("the connection closed before the tests ended")
		}
		return out.finish(*report)
	})
}

// namedEvents reads server-sent events and their names until the stream ends.
func namedEvents(stream io.Reader, each func(name string, data []byte) error) error {
	in, name := bufio.NewReaderSize(stream, 64<<10), ""
	for {
		line, err := in.ReadString('\n')
		text := strings.TrimSuffix(line, "\n")
		if n, ok := strings.CutPrefix(text, "event: "); ok {
			name = n
		}
		if data, ok := strings.CutPrefix(text, "data: "); ok {
			if err := each(name, []byte(data)); err != nil {
				return fmt.Errorf("read the results: %w", err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the results: %w", err)
		}
	}
}

// testResults prints the results of tests and collects them for the JUnit file.
type testResults struct {
	p     Process
	to    io.Writer // stream for text that people read, because stdout may contain JSON or the JUnit file
	json  bool
	name  string
	junit string
	all   []tests.Result
}

func (c *testCommand) results(p Process, name string) *testResults {
	to := c.people(p)
	if c.JUnit == "-" {
		to = p.Stderr
	}
	return &testResults{p: p, to: to, json: c.JSON, name: name, junit: c.JUnit}
}

func (r *testResults) show(result tests.Result) {
	r.all = append(r.all, result)
	mark := "ok  "
	if !result.Passed {
		mark = "FAIL"
	}
	_, _ = fmt.Fprintf(r.to, "%s  %s  (%s)\n", mark, lines(result.Name), milliseconds(result.RunMs))
	if !result.Passed {
		for _, line := range reasons(result) {
			_, _ = fmt.Fprintln(r.to, "      "+lines(line))
		}
	}
}

// reasons returns the reasons why a test failed, one per line.
func reasons(result tests.Result) []string {
	all := []string{result.Message}
	for _, d := range result.Differences {
		at := d.Pointer
		if at == "" {
			at = "the value"
		}
		all = append(all, at+" "+d.Message)
	}
	return all
}

// finish prints the totals and writes the JUnit file. If a test failed, it returns an error.
func (r *testResults) finish(report tests.Report) error {
	if err := r.writeJUnit(report); err != nil {
		return err
	}
	if r.json {
		whole := struct {
			tests.Report
			Results []tests.Result `json:"results"`
		}{report, append([]tests.Result{}, r.all...)}
		if err := r.p.encode(whole); err != nil {
			return err
		}
	}
	switch total := report.Passed + report.Failed; {
	case total == 0:
		return fmt.Errorf("%s has no tests; write %s, or keep results as tests in the Studio", r.name, registry.TestsFile)
	case report.Failed > 0:
		return fmt.Errorf("%d of %s failed", report.Failed, counted(total, "test"))
	}
	return r.p.say("%s passed in %s", counted(report.Passed, "test"), milliseconds(report.TotalMs))
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

func (r *testResults) writeJUnit(report tests.Report) error {
	if r.junit == "" {
		return nil
	}
	suite := junitSuite{Name: r.name, Tests: len(r.all), Failures: report.Failed, Time: seconds(report.TotalMs)}
	for _, result := range r.all {
		one := junitCase{Class: r.name, Name: result.Name, Time: seconds(result.RunMs)}
		if !result.Passed {
			kind := result.ErrorType
			if kind == "" {
				kind = "difference"
			}
			one.Failure = &junitFailure{Message: result.Message, Type: kind, Text: strings.Join(reasons(result), "\n")}
		}
		suite.Cases = append(suite.Cases, one)
	}
	text, err := xml.MarshalIndent(suite, "", "  ")
	if err != nil {
		return err
	}
	text = append([]byte(xml.Header), append(text, '\n')...)
	if r.junit == "-" {
		_, err := r.p.Stdout.Write(text)
		return err
	}
	return os.WriteFile(r.junit, text, 0o644)
}

func seconds(ms float64) string { return strconv.FormatFloat(ms/1000, 'f', 4, 64) }

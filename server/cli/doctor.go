package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/atelier-run/atelier/internal/config"
	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/runtimes/doctor"
	"github.com/atelier-run/atelier/server/app"
)

type doctorCommand struct {
	printed
	Server   string       `help:"Server whose API to test (default: the server that uses the data directory, else a temporary one)." placeholder:"URL"`
	Only     []string     `help:"Test only these groups: inside, syscalls, canaries, limits, persistence, crashes, speed, http. The host and ordinary programs are always tested." placeholder:"GROUP"`
	Data     string       `help:"Data directory of the server (default: data; ATELIER_DATA)." placeholder:"DIR"`
	Config   string       `help:"Settings file (default: atelier.yaml in the working directory, if it exists)." placeholder:"FILE"`
	Settings kong.Plugins `embed:""`
}

// doctorSettings selects the settings that affect the checks.
func doctorSettings(s config.Setting) bool {
	return slices.Contains([]string{"python", "bash", "node", "warm", "allow-weak-sandbox", "mask-sandbox"}, s.Name)
}

// Help returns the text above the flags of the command.
func (*doctorCommand) Help() string {
	return "Run test programs in the real sandbox, and report PASS, REDUCED or FAIL for each mechanism, with evidence " +
		"and a remedy. Exit codes: 0 if all mechanisms pass, 1 if one is reduced, 2 if one fails."
}

// exit is an error that only sets the exit code. A command returns it after it has printed its whole output.
type exit struct{ code int }

func (e exit) Error() string { return fmt.Sprintf("exit %d", e.code) }

func (c *doctorCommand) run(ctx context.Context, p Process) (err error) {
	only, err := c.only()
	if err != nil {
		return err
	}
	given := givenIn(c.Settings[0])
	if c.Data != "" {
		given["data"] = c.Data
	}
	settings, err := p.load(given, c.Config)
	if err != nil {
		return err
	}
	server := c.Server
	if left, leftErr := app.ReadCredentials(settings.Data); server == "" && leftErr == nil && answering(ctx, p, settings) != nil {
		server = left.URL
	}
	planted, err := doctor.Plant()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, planted.Pull()) }()
	chart := newChart(p, c.JSON)
	start, full, err := c.examine(ctx, p, settings, app.Examination{Planted: planted, Server: server, Only: only, Tell: chart.tell})
	if err != nil {
		return err
	}
	return chart.end(start, full)
}

func (c *doctorCommand) only() ([]doctor.Group, error) {
	var only []doctor.Group
	for _, name := range c.Only {
		if !slices.Contains(doctor.Groups(), doctor.Group(name)) {
			return nil, misusedf("--only: unknown group %q; `atelier doctor --help` lists all groups", name)
		}
		only = append(only, doctor.Group(name))
	}
	return only, nil
}

// examine opens a server with a temporary data directory and runs the checks on it.
func (c *doctorCommand) examine(ctx context.Context, p Process, settings config.Config, e app.Examination) (start, full doctor.Report, err error) {
	dir, err := os.MkdirTemp("", "atelier-doctor-")
	if err != nil {
		return start, full, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	settings.Data, settings.DatabaseURL, settings.Listen, settings.Traces = dir, "", "127.0.0.1:0", false
	settings.Skills, settings.SkillsBuiltin = "", false // Do not load the skills of the real server.
	a, err := app.Open(ctx, app.Options{Config: settings, Version: p.Version, Log: p.errorLog(), Studio: p.Studio, Samples: p.Samples, Exe: p.Exe})
	if err != nil {
		return start, full, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if e.Server == "" {
		listener, err := a.Listen(ctx)
		if err != nil {
			return start, full, err
		}
		e.Server = "http://" + listener.Addr().String()
		serving, stop := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- a.Serve(serving, listener) }()
		defer func() {
			stop()
			err = errors.Join(err, <-ended)
		}()
	}
	return a.Examine(ctx, e)
}

// chart prints the checks. By default it prints each check when the check has finished; with --json it prints all
// checks at the end.
type chart struct {
	out    io.Writer
	json   bool
	colour bool
	group  doctor.Group
}

func newChart(p Process, asJSON bool) *chart {
	return &chart{out: p.Stdout, json: asJSON, colour: isTerminal(p.Stdout) && p.Getenv("NO_COLOR") == ""}
}

// titles returns the titles of the groups as they are displayed.
func titles() map[doctor.Group]string {
	return map[doctor.Group]string{
		doctor.Environment: "Host features",
		doctor.Controls:    "Ordinary programs",
		doctor.Inside:      "What a program can see",
		doctor.Syscalls:    "System calls",
		doctor.Canaries:    "Canaries: data that programs must not reach",
		doctor.Limits:      "Limits: each is enforced in time with its own error",
		doctor.Persistence: "Persistence: nothing remains after a run",
		doctor.Crashes:     "Crashes are contained",
		doctor.Speed:       "Speed",
		doctor.HTTP:        "HTTP API",
	}
}

// tell prints one finished check, except with --json.
func (g *chart) tell(c doctor.Check) {
	if g.json {
		return
	}
	if c.Group != g.group {
		g.group = c.Group
		_, _ = fmt.Fprintf(g.out, "\n%s\n", titles()[c.Group])
	}
	name := c.Name
	if c.Language != "" {
		name = string(c.Language) + ": " + name
	}
	_, _ = fmt.Fprintf(g.out, "  %s  %-44s  %s\n", g.paint(c.Verdict, fmt.Sprintf("%-7s", c.Verdict)), telemetry.Escape(name), telemetry.Escape(c.Evidence))
	if c.Fix != "" {
		_, _ = fmt.Fprintf(g.out, "           fix: %s\n", telemetry.Escape(c.Fix))
	}
}

func (g *chart) paint(v doctor.Verdict, text string) string {
	if !g.colour {
		return text
	}
	codes := map[doctor.Verdict]string{doctor.Pass: "32", doctor.Reduced: "33", doctor.Fail: "31;1"}
	return "\x1b[" + codes[v] + "m" + text + "\x1b[0m"
}

// end prints the summary and returns the exit code as an error.
func (g *chart) end(start, full doctor.Report) error {
	if g.json {
		encoder := json.NewEncoder(g.out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		type summary struct {
			Verdict doctor.Verdict `json:"verdict"`
			TookMs  int64          `json:"tookMs"`
		}
		whole := struct {
			doctor.Report
			Start summary `json:"start"` // results of the self-test that a server runs at startup
		}{full, summary{start.Verdict, start.TookMs}}
		if err := encoder.Encode(whole); err != nil {
			return err
		}
	} else {
		_, _ = fmt.Fprintf(g.out, "\n%s  %d passed, %d reduced, %d failed in %.1f s. Isolation of runs: %s. Self-test at server start: %s in %d ms.\n",
			g.paint(full.Verdict, string(full.Verdict)), full.Passed, full.Reduced, full.Failed, float64(full.TookMs)/1000, full.Level, start.Verdict, start.TookMs)
		if needs := failures(full); needs != "" {
			_, _ = fmt.Fprintln(g.out, needs)
		}
	}
	code := map[doctor.Verdict]int{doctor.Pass: 0, doctor.Reduced: 1, doctor.Fail: 2}[full.Verdict]
	if code == 0 {
		return nil
	}
	return exit{code}
}

// failures lists the failed checks again at the end of the output.
func failures(r doctor.Report) string {
	var names []string
	for _, c := range r.Checks {
		if c.Verdict == doctor.Fail {
			names = append(names, strings.TrimPrefix(string(c.Language)+": "+c.Name, ": "))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "Failed: " + telemetry.Escape(strings.Join(names, "; "))
}

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// goEvent is one line of `go test -json`.
type goEvent struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

// goRun collects the results of the packages while their events are read.
type goRun struct {
	results map[string]map[string]string // result (pass, fail or skip) by package and test
	output  map[string][]string          // output by test, package or build
	counts  Counts
}

// readGo reads the events of `go test -json`. It prints one line per package, the output of failures and the reasons of
// skipped tests.
func readGo(in io.Reader, out io.Writer) (Counts, error) {
	run := goRun{results: map[string]map[string]string{}, output: map[string][]string{}, counts: Counts{Name: "go"}}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			run.line(line, out)
		}
		if err == io.EOF {
			return run.counts, nil
		}
		if err != nil {
			return run.counts, err
		}
	}
}

func (r *goRun) line(line string, out io.Writer) {
	var event goEvent
	if err := json.Unmarshal([]byte(line), &event); err != nil {
		fmt.Fprint(out, line) // the line is plain output of a tool such as the linker
		return
	}
	key := event.Package + " " + event.Test
	switch event.Action {
	case "build-output":
		r.output["build "+event.ImportPath] = append(r.output["build "+event.ImportPath], event.Output)
	case "output":
		r.output[key] = append(r.output[key], event.Output)
	case "pass", "fail", "skip":
		if event.Test == "" {
			r.finish(event, out)
			return
		}
		if r.results[event.Package] == nil {
			r.results[event.Package] = map[string]string{}
		}
		r.results[event.Package][event.Test] = event.Action
	}
}

// finish counts the tests of a package. It does not count a test that only groups subtests, unless that test failed
// itself.
func (r *goRun) finish(event goEvent, out io.Writer) {
	tests := r.results[event.Package]
	pkg := strings.TrimPrefix(event.Package, "github.com/atelier-run/atelier/")
	failed := r.counts.Failed
	for name, lines := range r.output {
		if strings.HasPrefix(name, event.Package+" ") {
			for _, race := range races(strings.Join(lines, "")) {
				r.counts.Races = append(r.counts.Races, pkg+"\n"+race)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		action := tests[name]
		children := childrenOf(name, tests)
		if len(children) > 0 && (action != "fail" || slices.Contains(children, "fail")) {
			continue
		}
		text := strings.Join(r.output[event.Package+" "+name], "")
		for line := range strings.SplitSeq(text, "\n") {
			if _, figures, ok := strings.Cut(line, measured); ok && action == "pass" {
				fmt.Fprintf(out, "     %s\n", figures)
			}
		}
		switch action {
		case "pass":
			r.counts.Passed++
		case "skip":
			r.counts.Skipped++
			r.counts.Skips = append(r.counts.Skips, pkg+" "+name+": "+reason(text))
		case "fail":
			r.counts.Failed++
			r.counts.Failures = append(r.counts.Failures, Failure{pkg + " " + name, whyGo(text), goRerun(event.Package, name)})
			fmt.Fprintf(out, "--- %s %s\n%s", pkg, name, text)
		}
	}
	if event.Action == "fail" && r.counts.Failed == failed {
		// The build failed, or the process ended outside of a test.
		r.counts.Failed++
		text := strings.Join(r.output["build "+event.FailedBuild], "") + strings.Join(r.output[event.Package+" "], "")
		fmt.Fprintf(out, "--- %s\n%s", pkg, text)
		for name, lines := range r.output {
			if rest, ok := strings.CutPrefix(name, event.Package+" "); ok && rest != "" && tests[rest] == "" {
				said := strings.Join(lines, "")
				fmt.Fprintf(out, "--- %s %s did not end\n%s", pkg, rest, said)
				text += said
			}
		}
		var again []string
		if event.FailedBuild == "" {
			again = goRerun(event.Package, "")
		}
		r.counts.Failures = append(r.counts.Failures, Failure{pkg, whyGo(text), again})
	}
	if event.Action != "skip" { // the package has no tests
		fmt.Fprintf(out, "%-4s %-36s %4d tests  %6.1f s\n", event.Action, pkg, len(tests), event.Elapsed)
	}
	maps.DeleteFunc(r.output, func(name string, _ []string) bool { return strings.HasPrefix(name, event.Package+" ") })
}

// goRerun returns the arguments that select one test of a package. If the process ended outside of a test, they select
// the whole package. A subtest runs with its parent, because it may depend on the parent's set-up.
func goRerun(pkg, name string) []string {
	if name == "" {
		return []string{pkg}
	}
	root, _, _ := strings.Cut(name, "/")
	return []string{"-run", "^" + root + "$", pkg}
}

// measured is the prefix of output lines in which a test reports a measured value. Such lines are always printed. So a
// person notices a value that gets worse but is still within its limit.
const measured = "measured: "

func childrenOf(name string, tests map[string]string) []string {
	var actions []string
	for other, action := range tests {
		if strings.HasPrefix(other, name+"/") {
			actions = append(actions, action)
		}
	}
	return actions
}

// reason returns the reason with which a test was skipped, without file and line number.
func reason(text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if _, why, ok := strings.Cut(line, ".go:"); ok {
			_, why, _ = strings.Cut(why, ": ")
			return why
		}
	}
	return "no reason given"
}

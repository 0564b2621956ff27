package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadGoCountsWhatRan(t *testing.T) {
	t.Parallel()
	stream := strings.Join([]string{
		`{"Action":"pass","Package":"p","Test":"TestGroup/one"}`,
		`{"Action":"pass","Package":"p","Test":"TestGroup/two"}`,
		`{"Action":"pass","Package":"p","Test":"TestGroup"}`,
		`{"Action":"output","Package":"p","Test":"TestGroup/one","Output":"    x_test.go:5: measured: recall 0.97\n"}`,
		`{"Action":"output","Package":"p","Test":"TestAway","Output":"    x_test.go:7: no PostgreSQL here\n"}`,
		`{"Action":"skip","Package":"p","Test":"TestAway"}`,
		`{"Action":"output","Package":"p","Test":"TestBroken","Output":"    x_test.go:9: got 1, want 2\n"}`,
		`{"Action":"fail","Package":"p","Test":"TestBroken"}`,
		`{"Action":"fail","Package":"p"}`,
		`{"Action":"build-output","ImportPath":"q [q.test]","Output":"q.go:1: undefined: x\n"}`,
		`{"Action":"fail","Package":"q","FailedBuild":"q [q.test]"}`,
	}, "\n")
	var out strings.Builder
	got, err := readGo(strings.NewReader(stream), &out)
	if err != nil {
		t.Fatal(err)
	}
	if got.Passed != 2 || got.Failed != 2 || got.Skipped != 1 {
		t.Errorf("counted %d passed, %d failed, %d skipped; want 2, 2, 1", got.Passed, got.Failed, got.Skipped)
	}
	if want := "p TestAway: no PostgreSQL here"; len(got.Skips) != 1 || got.Skips[0] != want {
		t.Errorf("skips are %q, want %q", got.Skips, want)
	}
	for _, want := range []string{"got 1, want 2", "undefined: x", "     recall 0.97\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output hides %q:\n%s", want, &out)
		}
	}
}

func TestFailuresSayWhy(t *testing.T) {
	t.Parallel()
	events := func(lines ...string) string {
		var stream strings.Builder
		for _, line := range lines {
			event, err := json.Marshal(goEvent{Action: "output", Package: "p", Test: "TestX", Output: line + "\n"})
			if err != nil {
				t.Fatal(err)
			}
			stream.Write(append(event, '\n'))
		}
		return stream.String()
	}
	failed := `{"Action":"fail","Package":"p","Test":"TestX"}` + "\n" + `{"Action":"fail","Package":"p"}`
	for name, tt := range map[string]struct{ stream, want string }{
		"messages": {
			events("=== RUN   TestX", "    x_test.go:9: got 1, want 2", "        of three", "    x_test.go:10: second", "    x_test.go:11: third") + failed,
			"p TestX\n      x_test.go:9: got 1, want 2\n      x_test.go:10: second",
		},
		"a race": {
			events("==================", "WARNING: DATA RACE", "Read at 0x00c000014108 by goroutine 9:", "  p.f()", "      /src/p/x.go:12 +0x3c") + failed,
			"p TestX\n      WARNING: DATA RACE\n      /src/p/x.go:12 +0x3c",
		},
		"a race elsewhere, and a server's log": {
			events("    testing.go:1712: race detected during execution of test", "    servertest.go:108: the server's log:", "        level=INFO") + failed,
			"p TestX\n      testing.go:1712: race detected during execution of test",
		},
		"a panic that took the others along": {
			events("panic: test timed out after 20m0s", "goroutine 1 [running]:", "\t/go/src/testing/testing.go:2484 +0x1") + `{"Action":"fail","Package":"p"}`,
			"p\n      panic: test timed out after 20m0s",
		},
		"no build": {
			`{"Action":"build-output","ImportPath":"p [p.test]","Output":"# p\np/x.go:1:2: undefined: x\n"}` + "\n" + `{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}`,
			"p\n      p/x.go:1:2: undefined: x",
		},
	} {
		got, err := readGo(strings.NewReader(tt.stream), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Failures) != 1 || got.Failures[0].String() != tt.want {
			t.Errorf("%s: failures are %q, want %q", name, got.Failures, tt.want)
		}
	}
}

func TestRace_InATestThatPasses_Shown(t *testing.T) {
	t.Parallel()
	stream := `{"Action":"output","Package":"p","Test":"TestX","Output":"WARNING: DATA RACE\nRead at 0x1\n"}
{"Action":"output","Package":"p","Test":"TestX","Output":"      /src/p/x.go:12 +0x3c\n==================\n"}
{"Action":"pass","Package":"p","Test":"TestX"}
{"Action":"fail","Package":"p"}
`
	counts, err := readGo(strings.NewReader(stream), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "counts")
	if err := counts.save(file); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := printTotal(file, &out, true); err == nil || !strings.Contains(out.String(), "data race: p\nRead at 0x1\n      /src/p/x.go:12") {
		t.Errorf("the total is %v:\n%s", err, &out)
	}
}

func TestVitestFailuresSayWhy(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "result.json")
	report := `{"testResults":[{"name":"/src/web/e2e/a.e2e.ts","status":"failed","assertionResults":[
		{"fullName":" A01 opens it","status":"failed","failureMessages":["TimeoutError: locator.click: Timeout 15000ms exceeded.\nCall log:\n\u001b[2m  - waiting for ` +
		strings.Repeat("é", 300) + `\u001b[22m\n\n    at open (/src/web/e2e/kit/studio.ts:7:1)\n    at /src/web/e2e/a.e2e.ts:12:3"]}]},
		{"name":"/src/web/e2e/b.e2e.ts","status":"failed","message":"Error: no sign-in link within 20 s, but:\n    at x","assertionResults":[]}]}`
	if err := os.WriteFile(file, []byte(report), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readVitest("browser", file, "1")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a.e2e.ts A01 opens it (line 12)\n      TimeoutError: locator.click: Timeout 15000ms exceeded.\n      - waiting for " + strings.Repeat("é", whyWidth-14) + "…",
		"b.e2e.ts\n      Error: no sign-in link within 20 s, but:",
	}
	if len(got.Failures) != 2 || got.Failures[0].String() != want[0] || got.Failures[1].String() != want[1] {
		t.Errorf("failures are %q, want %q", got.Failures, want)
	}
}

func TestTotalIsStrict(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		counts []Counts
		ci     bool
		last   string
		fine   bool
	}{
		"all passed":       {[]Counts{{Passed: 2}, {Passed: 3}}, true, "5 passed, 0 failed, 0 skipped", true},
		"one failed":       {[]Counts{{Passed: 2, Failed: 1}}, false, "2 passed, 1 failed, 0 skipped", false},
		"skipped here":     {[]Counts{{Passed: 2, Skipped: 1}}, false, "2 passed, 0 failed, 1 skipped", true},
		"skipped in CI":    {[]Counts{{Passed: 2, Skipped: 1}}, true, "2 passed, 0 failed, 1 skipped", false},
		"nothing happened": {[]Counts{{}}, false, "0 passed, 0 failed, 0 skipped", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "counts")
			for _, c := range tt.counts {
				if err := c.save(file); err != nil {
					t.Fatal(err)
				}
			}
			var out strings.Builder
			err := printTotal(file, &out, tt.ci)
			if (err == nil) != tt.fine {
				t.Errorf("error is %v", err)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if last := lines[len(lines)-1]; last != tt.last {
				t.Errorf("last line is %q, want %q", last, tt.last)
			}
		})
	}
}

func TestVitestThatDiedIsAFailure(t *testing.T) {
	t.Parallel()
	got, err := readVitest("studio", filepath.Join(t.TempDir(), "none.json"), "1")
	if err != nil || got.Failed != 1 {
		t.Errorf("got %+v, %v; want one failure", got, err)
	}
}

func TestVitestThatFailedOutsideOfItsTestsIsAFailure(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "result.json")
	report := `{"success":true,"testResults":[{"name":"/src/a.test.ts","status":"passed","assertionResults":[{"fullName":"x","status":"passed"}]}]}`
	if err := os.WriteFile(file, []byte(report), 0o600); err != nil {
		t.Fatal(err)
	}
	for code, failed := range map[string]int{"0": 0, "1": 1} {
		got, err := readVitest("studio", file, code)
		if err != nil || got.Passed != 1 || got.Failed != failed {
			t.Errorf("vitest that ended with %s: got %+v, %v; want one passed, %d failed", code, got, err, failed)
		}
	}
}

func TestCoverageMergesProfiles(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cover.out")
	profile := "mode: set\ngithub.com/atelier-run/atelier/a/x.go:1.1,2.2 3 0\ngithub.com/atelier-run/atelier/a/x.go:1.1,2.2 3 1\ngithub.com/atelier-run/atelier/a/x.go:3.1,4.2 1 0\n"
	if err := os.WriteFile(file, []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		coverageRequired []string
		fine             bool
	}{
		"no boundary":                   {nil, true},
		"a thin boundary":               {[]string{"a"}, false},
		"a boundary without statements": {[]string{"b"}, false},
	} {
		var out strings.Builder
		if err := printCoverage(file, tt.coverageRequired, &out); (err == nil) != tt.fine {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(out.String(), "4 statements   75.0 %") {
			t.Errorf("%s:\n%s", name, &out)
		}
	}
}

func TestStatementsCountWhatPassed(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	result, tallied := filepath.Join(folder, "result.json"), filepath.Join(folder, "tally")
	report := `{"testResults":[{"assertionResults":[
		{"ancestorTitles":["A01 A02 a newcomer"],"title":"opens it","status":"passed"},
		{"ancestorTitles":[],"title":"A02 runs it","status":"failed"},
		{"ancestorTitles":[],"title":"A43 waits","status":"passed"},
		{"ancestorTitles":[],"title":"about A03","status":"passed"}]}]}`
	for file, text := range map[string]string{
		result:  report,
		tallied: "{\"sessions\":1}\n{\"sessions\":1,\"foreign\":0}\n{\"screens\":2,\"axe\":3}\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := printStatements(result, tallied, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"statements 2 of 48\n", // A01, and A46 by the tally
		"without a passing test: A02 A03 A04",
		"axe violations 3 on 2 screens\n",
		"foreign requests 0, CSP violations 0 in 2 sessions\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// A rerun runs real commands on three packages: one with a test that fails only at its first run, one that always fails
// and one that does not build.
func TestRerun_TestPassesAlone_Unstable(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for file, text := range map[string]string{
		"go.mod": "module github.com/atelier-run/atelier\n\ngo 1.26\n",
		"p/p_test.go": `package p

import (
	"os"
	"testing"
)

func TestFirst(t *testing.T) {
	t.Run("sub", func(t *testing.T) {
		if os.Mkdir("ran", 0o755) == nil {
			t.Fatal("first run")
		}
	})
}

func TestAlways(t *testing.T) { t.Fatal("always") }
`,
		"q/q_test.go": "package q\n\nvar x = y\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := []string{"go", "-C", folder, "test", "-count=1"}
	stream, err := exec.Command(command[0], append(command[1:], "-json", "./...")...).Output()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		t.Fatalf("go test: %v", err)
	}
	counts, err := readGo(strings.NewReader(string(stream)), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	counts.Name, counts.Command = "go", command
	file := filepath.Join(folder, "counts")
	if err := counts.save(file); err != nil {
		t.Fatal(err)
	}
	if err := rerun(file, io.Discard); err != nil {
		t.Fatal(err)
	}
	all, err := readCounts(file)
	if err != nil || len(all) != 1 {
		t.Fatalf("counts are %+v, %v", all, err)
	}
	got := all[0]
	if len(got.Unstable) != 1 || got.Unstable[0].Title != "p TestFirst/sub" || got.Passed != 1 {
		t.Errorf("unstable tests are %+v with %d passed, want p TestFirst/sub with 1", got.Unstable, got.Passed)
	}
	if got.Failed != 2 || len(got.Failures) != 2 {
		t.Errorf("%d failed: %+v; want TestAlways and q", got.Failed, got.Failures)
	}
	var out strings.Builder
	if err := printTotal(file, &out, true); err == nil || !strings.Contains(out.String(), "unstable, passed alone: p TestFirst/sub") {
		t.Errorf("total is %v:\n%s", err, &out)
	}
}

func TestRerun_ManyFailures_NotRunAgain(t *testing.T) {
	t.Parallel()
	const race = "\n      testing.go:1712: race detected during execution of test"
	for reason, want := range map[string]bool{"": false, race: true, "\n      a_test.go:1: got 2" + race: false} {
		file := filepath.Join(t.TempDir(), "counts")
		counts := Counts{Failed: mostReruns + 1, Command: []string{"false"}}
		for range counts.Failed {
			counts.Failures = append(counts.Failures, Failure{Title: "x", Why: reason, Rerun: []string{"x"}})
		}
		if err := counts.save(file); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		err := rerun(file, &out)
		if again := !strings.Contains(out.String(), "are not run again"); err != nil || again != want {
			t.Errorf("after %q they are run again: %t, %v", reason, again, err)
		}
	}
}

func TestFail_WithProgram_RunAgain(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "counts")
	for _, program := range []string{"true", "false"} {
		if err := run([]string{"fail", file, program, "env", program}); err != nil {
			t.Fatal(err)
		}
	}
	if err := run([]string{"fail", file, "none"}); err != nil {
		t.Fatal(err)
	}
	if err := rerun(file, io.Discard); err != nil {
		t.Fatal(err)
	}
	all, err := readCounts(file)
	if err != nil || len(all) != 3 || all[0].Failed != 0 || len(all[0].Unstable) != 1 || all[1].Failed != 1 || all[2].Failed != 1 {
		t.Errorf("counts are %+v, %v; only the first must pass", all, err)
	}
}

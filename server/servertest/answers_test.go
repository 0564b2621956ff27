package servertest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/server/servertest"
)

// TestInput_OtherEscapesAndSpaces_SameText checks that a script reads the same text for an input that two clients send with
// different escapes and spaces.
func TestInput_OtherEscapesAndSpaces_SameText(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	const want = `{"z":"ë/","a":[1.0,12345678901234567890]}`
	for _, input := range []string{
		want,
		`{ "z": "\u00eb\/", "a": [1.0, 12345678901234567890] }`,
		"{\n\t\"\\u007a\" : \"ë/\",\r\n\t\"a\" : [ 1.0 , 12345678901234567890 ]\n}",
	} {
		code, err := json.Marshal(`jq -n --arg text "$INPUT" --arg stdin "$(cat)" --arg count "${#INPUT}" '[$text, $stdin, $count]'`)
		if err != nil {
			t.Fatal(err)
		}
		body := `{"language":"bash","code":` + string(code) + `,"input":` + input + `}`
		run := s.Want(t, 200, "POST", "/api/v1/execute", body).Run(t)
		var got []string
		if err := json.Unmarshal(run.Output, &got); err != nil || len(got) != 3 || got[0] != want || got[1] != want || got[2] != "41" {
			t.Errorf("%s: %s, %+v", input, run.Output, run.Error)
		}
	}
}

// TestLimits_OutOfRange_NamesTheBorder checks that the error for a limit above the maximum names the maximum.
func TestLimits_OutOfRange_NamesTheBorder(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Want(t, 201, "POST", "/api/v1/code-agents", `{"name":"a","language":"bash","code":"echo 1"}`)
	s.Want(t, 201, "POST", "/api/v1/code-agents/a/versions", `{}`)
	for name, tt := range map[string]struct{ path, body, want string }{
		"inline, above":  {"/api/v1/execute", `{"language":"bash","code":"echo 1","limits":{"timeoutMs":700000}}`, "must be at most 600000, the maximum of this server."},
		"inline, below":  {"/api/v1/execute", `{"language":"bash","code":"echo 1","limits":{"memoryBytes":5}}`, "must be at least 16777216."},
		"version, above": {"/api/v1/code-agents/a/execute", `{"version":"1.0.0","limits":{"timeoutMs":700000}}`, "must be at most 30000, the limit of the version."},
	} {
		p := s.Want(t, 422, "POST", tt.path, tt.body).Problem(t)
		if len(p.Errors) != 1 || p.Errors[0].Message != tt.want {
			t.Errorf("%s: %+v", name, p.Errors)
		}
	}
}

// TestDeterministic_True_Refused checks that the field deterministic, which would have no effect, is refused.
func TestDeterministic_True_Refused(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	p := s.Want(t, 422, "POST", "/api/v1/code-agents", `{"name":"a","language":"bash","code":"echo 1","deterministic":true}`).Problem(t)
	if p.Code != fault.InvalidInput || len(p.Errors) != 1 || p.Errors[0].Pointer != "/deterministic" {
		t.Errorf("%+v", p)
	}
}

// TestSkillLimits_Unset_ThoseOfTheServer checks that a server's default applies to skills that were loaded before it
// changed, and that their digests do not depend on it.
func TestSkillLimits_Unset_ThoseOfTheServer(t *testing.T) {
	t.Parallel()
	files := echo()
	files["echo/handler.py"] = "import time\n\ndef echo(value, times=1):\n    time.sleep(value)\n    return {'values': [value]}\n"
	data, _ := skillsIn(t, files)
	digests := map[string]bool{}
	seconds := map[string]float64{"20000": 0.4, "300": 10}
	for timeout, status := range map[string]string{"20000": "", "300": "Execution exceeded timeout"} {
		s := servertest.On(t, data, servertest.Flags(t, map[string]string{"default-timeout-ms": timeout}))
		a := s.Want(t, 200, "POST", "/skills/execute", map[string]any{"skill": "echo", "args": map[string]any{"value": seconds[timeout]}})
		if !strings.Contains(string(a.Body), status) || strings.Contains(string(a.Body), "exceeded timeout") != (status != "") {
			t.Errorf("with %s ms: %s", timeout, a.Body)
		}
		var v struct{ Digest string }
		s.Want(t, 200, "GET", "/api/v1/code-agents/echo/versions/1.0.0", nil).Into(t, &v)
		digests[v.Digest] = true
		s.Stop(t)
	}
	for _, timeout := range []string{"20000", "300"} {
		fresh, _ := skillsIn(t, files)
		s := servertest.On(t, fresh, servertest.Flags(t, map[string]string{"default-timeout-ms": timeout}))
		s.Want(t, 200, "POST", "/skills/execute", map[string]any{"skill": "echo", "args": map[string]any{"value": 0}})
		var v struct{ Digest string }
		s.Want(t, 200, "GET", "/api/v1/code-agents/echo/versions/1.0.0", nil).Into(t, &v)
		digests[v.Digest] = true
		s.Stop(t)
	}
	if len(digests) != 1 {
		t.Errorf("digests %v", digests)
	}
}

// TestAgentLimits_Unset_ThoseOfTheServer checks that an agent stores only the limits that its author set. If the server's
// defaults change, its draft and its version run with the new defaults.
func TestAgentLimits_Unset_ThoseOfTheServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	var digest string
	for _, timeout := range []string{"20000", "300"} {
		s := servertest.On(t, data, servertest.Flags(t, map[string]string{"default-timeout-ms": timeout}))
		if digest == "" {
			s.Want(t, 201, "POST", "/api/v1/code-agents", `{"name":"a","language":"bash","code":"sleep 0.6","limits":{"memoryBytes":100000000}}`)
			s.Want(t, 201, "POST", "/api/v1/code-agents/a/versions", `{}`)
		}
		var a struct {
			Draft struct{ Limits map[string]int64 }
		}
		s.Want(t, 200, "GET", "/api/v1/code-agents/a", nil).Into(t, &a)
		if l := a.Draft.Limits; l["timeoutMs"] != 0 || l["memoryBytes"] != 100000000 {
			t.Errorf("draft: %v", l)
		}
		var v struct{ Digest string }
		s.Want(t, 200, "GET", "/api/v1/code-agents/a/versions/1.0.0", nil).Into(t, &v)
		if digest == "" {
			digest = v.Digest
		}
		if v.Digest != digest {
			t.Errorf("the digest depends on the server: %s, %s", digest, v.Digest)
		}
		want := map[string]string{"20000": "succeeded", "300": "timed_out"}[timeout]
		for _, version := range []string{"1.0.0", "draft"} {
			if run := s.Want(t, 200, "POST", "/api/v1/code-agents/a/execute", `{"version":"`+version+`"}`).Run(t); run.Status != want {
				t.Errorf("%s with %s ms: %s", version, timeout, run.Status)
			}
		}
		// A client may send back the limits that it has read. Limits that were not set stay unset.
		text, err := json.Marshal(a.Draft.Limits)
		if err != nil {
			t.Fatal(err)
		}
		s.Want(t, 200, "PUT", "/api/v1/code-agents/a", `{"limits":`+string(text)+`}`, servertest.Headers{"If-Match": "*"})
		s.Stop(t)
	}
}

// TestSpans_SayWhatHappened checks the span attributes of runs whose validation fails, and of a run that succeeds.
func TestSpans_SayWhatHappened(t *testing.T) {
	t.Parallel()
	seen := tracetest.NewInMemoryExporter()
	s := servertest.New(t, servertest.Traces(telemetry.NewTracesTo(seen)))
	s.Want(t, 201, "POST", "/api/v1/code-agents", `{"name":"a","language":"bash","code":"jq .n","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}},"outputSchema":{"maximum":5}}`)
	s.Want(t, 201, "POST", "/api/v1/code-agents/a/versions", `{}`)
	for body, want := range map[string]struct {
		status int
		passed bool
	}{`{"version":"1.0.0","input":{"n":1}}`: {200, true}, `{"version":"1.0.0","input":{"n":9}}`: {200, false}, `{"version":"1.0.0","input":{"n":"x"}}`: {422, false}} {
		seen.Reset()
		s.Want(t, want.status, "POST", "/api/v1/code-agents/a/execute", body)
		found := map[string]any{}
		servertest.Eventually(t, "the span has ended", func() bool {
			for _, span := range seen.GetSpans() {
				if span.Name != "code.execute" {
					continue
				}
				for _, a := range span.Attributes {
					found[string(a.Key)] = a.Value.AsInterface()
				}
				return true
			}
			return false
		})
		if found["code.validation_passed"] != want.passed {
			t.Errorf("%s: %v", body, found)
		}
		if memory, ok := found["code.memory_mb"].(float64); want.status == 200 && ok && memory > 200 {
			t.Errorf("%s: memory %v, which is the limit", body, memory)
		}
	}
}

package servertest_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/server/servertest"
	"github.com/atelier-run/atelier/studio/approvals"
)

const (
	personal = "ada-lovelace-1815"
	// says is a program that writes its input to all possible outputs: stdout, log, error and result.
	says = "def main(input, ctx):\n    print('out', input['name'])\n    ctx.log('info', 'log ' + input['name'], {'name': input['name']})\n    ctx.progress(1, 2, input['name'])\n" +
		"    if input.get('fail'):\n        raise ValueError(input['name'])\n    return {'hello': input['name']}\n"
)

// withheldRun is a run without values.
type withheldRun struct {
	servertest.Run
	Withheld bool
	Input    json.RawMessage
}

func recordOf(t *testing.T, c *servertest.Client, id string, who ...servertest.Headers) withheldRun {
	t.Helper()
	var run withheldRun
	answer := c.Want(t, 200, "GET", "/api/v1/runs/"+id, nil, who...)
	answer.Into(t, &run)
	if !run.Withheld || string(run.Input) != "null" || string(run.Output) != "null" || run.Provenance.InputsHash == "" || bytes.Contains(answer.Body, []byte(personal)) {
		t.Errorf("the record is %s", answer.Body)
	}
	return run
}

// anotherCaller returns the headers of another token of the workspace.
func anotherCaller(t *testing.T, s *servertest.Server) servertest.Headers {
	t.Helper()
	var made struct{ Secret string }
	s.Want(t, 201, "POST", "/api/v1/tokens", map[string]any{"name": "another", "scopes": []string{"admin"}}).Into(t, &made)
	return servertest.Headers{"Authorization": "Bearer " + made.Secret}
}

// onlyDigests checks that a value is in no file, no table and no log of a server that has ended.
func onlyDigests(t *testing.T, s *servertest.Server, database string) {
	t.Helper()
	clean := func(where string, text []byte) {
		if bytes.Contains(text, []byte(personal)) {
			t.Errorf("%s has the value", where)
		}
	}
	clean("the log", []byte(s.Log.String()))
	err := filepath.WalkDir(s.Data, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		clean(path, text)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if database != "" {
		for table, text := range storetest.Dump(t, database) {
			clean(table, text)
		}
	}
}

// A program with pii_risk must return its values to its caller. Its record must contain only digests. This holds on
// both databases, and also while the run waits for an approval.
func TestPIIRisk_RecordHasOnlyDigests(t *testing.T) {
	t.Parallel()
	for _, database := range []storetest.Dialect{storetest.SQLite, storetest.Postgres} {
		t.Run(string(database), func(t *testing.T) {
			t.Parallel()
			flags := map[string]string{}
			if database == storetest.Postgres {
				flags["database"] = storetest.Options(t, storetest.Postgres).URL
			}
			s := servertest.New(t, servertest.Flags(t, flags))
			agent := map[string]any{"name": "greets", "language": "python", "code": says, "safetyFlags": []string{"pii_risk"}}
			s.Create(t, agent)
			s.Publish(t, "greets", "1.0.0")
			agent["name"], agent["requiresApproval"] = "asks", true
			s.Create(t, agent)
			s.Publish(t, "asks", "1.0.0")
			s.Create(t, map[string]any{
				"name": "echo", "language": "javascript", "code": "export default (i) => i",
			})
			s.Publish(t, "echo", "1.0.0")
			s.Create(t, map[string]any{
				"name": "passes", "language": "javascript", "code": "export default (i, ctx) => ctx.callTool('echo@1.0.0', i)", "safetyFlags": []string{"pii_risk"}, "capabilities": map[string]any{"tools": []string{"echo@1.0.0"}},
			})
			s.Publish(t, "passes", "1.0.0")
			other := anotherCaller(t, s)

			input := map[string]any{"name": personal}
			run := s.Execute(t, "greets", "1.0.0", input)
			if string(run.Output) != `{"hello":"`+personal+`"}` || run.Stdout != "out "+personal+"\n" {
				t.Errorf("the caller gets %+v %+v", run, run.Error)
			}
			s.Get(t, run.RunID) // The caller may read the values for a short time.
			record := recordOf(t, s.Client, run.RunID, other)
			if record.Status != "succeeded" || record.Provenance.OutputsHash != run.Provenance.OutputsHash || record.Stdout != "" {
				t.Errorf("the record is %+v", record)
			}
			events := s.Want(t, 200, "GET", "/api/v1/runs/"+run.RunID+"/events", nil, other)
			if bytes.Contains(events.Body, []byte(personal)) || !strings.Contains(string(events.Body), `"kind":"stdout"`) || !strings.Contains(string(events.Body), "Withheld.") {
				t.Errorf("the events are %s", events.Body)
			}

			failed := s.Execute(t, "greets", "draft", map[string]any{"name": personal, "fail": true})
			if failed.Error == nil || !strings.Contains(failed.Error.Message, personal) {
				t.Errorf("the caller gets %+v", failed)
			}
			if record := recordOf(t, s.Client, failed.RunID, other); record.Error == nil || record.Error.Line != 6 || record.Error.Type != "runtime_error" || !strings.Contains(record.Error.Message, "pii_risk") {
				t.Errorf("the record is %+v %+v", record, record.Error)
			}

			outer := s.Execute(t, "passes", "1.0.0", input)
			if !strings.Contains(string(outer.Output), personal) {
				t.Errorf("the caller gets %+v %+v", outer, outer.Error)
			}
			var inner struct{ Items []servertest.Run }
			s.Want(t, 200, "GET", "/api/v1/runs?agent=echo", nil, other).Into(t, &inner)
			recordOf(t, s.Client, inner.Items[0].RunID, other)

			key := servertest.Headers{"Idempotency-Key": "once"}
			body := map[string]any{"version": "1.0.0", "input": input}
			if first := s.Want(t, 200, "POST", "/api/v1/code-agents/greets/execute", body, key); !bytes.Contains(first.Body, []byte(personal)) {
				t.Errorf("the first answer is %s", first.Body)
			}
			if second := s.Want(t, 200, "POST", "/api/v1/code-agents/greets/execute", body, key); bytes.Contains(second.Body, []byte(personal)) || !strings.Contains(string(second.Body), `"withheld":true`) {
				t.Errorf("the repeated answer is %s", second.Body)
			}

			waiting := waitingRun(t, s.Client, "asks", input)
			recordOf(t, s.Client, waiting.RunID)
			var details approvals.Details
			s.Want(t, 200, "GET", "/api/v1/approvals/"+waiting.ApprovalID, nil).Into(t, &details)
			if !details.InputWithheld || details.Input != nil {
				t.Errorf("the approver reads %+v", details)
			}
			waitingDump(t, flags["database"])
			decide(t, s.Client, 200, waiting.ApprovalID, "approve", "", "")
			if run := ended(t, s.Client, waiting.RunID); run.Status != "succeeded" || !strings.Contains(string(run.Output), personal) {
				t.Errorf("the approved run is %+v %+v", run, run.Error)
			}
			recordOf(t, s.Client, waiting.RunID, other)

			if p := s.Want(t, 409, "POST", "/api/v1/code-agents/greets/replay", `{}`).Problem(t); !strings.Contains(p.Detail, "pii_risk") {
				t.Errorf("refused with %+v", p)
			}
			s.Stop(t)
			onlyDigests(t, s, flags["database"])
		})
	}
}

// waitingDump checks that the input of a waiting run is encrypted.
func waitingDump(t *testing.T, database string) {
	t.Helper()
	if database == "" {
		return // The file of the database is searched at the end of the test.
	}
	for table, text := range storetest.Dump(t, database) {
		if bytes.Contains(text, []byte(personal)) {
			t.Errorf("%s has the value while the run waits", table)
		}
	}
}

// The caller of an asynchronous run with pii_risk can follow the run and gets the values. Other callers cannot follow
// the run. A later reader gets no values.
func TestPIIRisk_Followed(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Create(t, map[string]any{"name": "greets", "language": "python", "code": says, "safetyFlags": []string{"pii_risk"}})
	s.Publish(t, "greets", "1.0.0")
	said := servertest.Command(t, "", "run", "greets@1.0.0", "--input", `{"name":"`+personal+`"}`, "--server", s.URL, "--token", s.Token)
	if said.Code != 0 || !strings.Contains(said.Stdout, personal) {
		t.Errorf("exit %d, %q, %q", said.Code, said.Stdout, said.Stderr)
	}
	s.Create(t, map[string]any{"name": "slow", "language": "python", "code": "import time\ndef main(input, ctx):\n    print(input['name'], flush=True)\n    time.sleep(60)\n", "safetyFlags": []string{"pii_risk"}})
	s.Publish(t, "slow", "1.0.0")
	var started servertest.Run
	s.Want(t, 202, "POST", "/api/v1/code-agents/slow/execute", map[string]any{"version": "1.0.0", "input": map[string]any{"name": personal}}, servertest.Headers{"Prefer": "respond-async"}).Into(t, &started)
	servertest.Eventually(t, "it prints", func() bool { return strings.Contains(s.Get(t, started.RunID).Stdout, personal) })
	other := anotherCaller(t, s)
	recordOf(t, s.Client, started.RunID, other)
	if p := s.Want(t, 403, "GET", "/api/v1/runs/"+started.RunID+"/events", nil, other).Problem(t); !strings.Contains(p.Detail, "Only the caller") {
		t.Errorf("refused with %+v", p)
	}
	key := servertest.Headers{"Idempotency-Key": "cancel-once"}
	s.Want(t, 200, "POST", "/api/v1/runs/"+started.RunID+"/cancel", nil, key)
	if again := s.Want(t, 200, "POST", "/api/v1/runs/"+started.RunID+"/cancel", nil, key); strings.Contains(string(again.Body), personal) {
		t.Errorf("the stored answer has personal data: %s", again.Body)
	}
	recordOf(t, s.Client, started.RunID, other)
}

// The encrypted input of a waiting run survives kill -9, and the run finishes with the right output.
func TestPIIRisk_WaitingRun_ServerKilled(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	const token = "a-token-that-is-long-enough-to-be-one"
	p := servertest.Spawn(t, data, "--token", token)
	p.Token = token
	p.Create(t, map[string]any{"name": "asks", "language": "python", "code": says, "requiresApproval": true, "safetyFlags": []string{"pii_risk"}})
	p.Publish(t, "asks", "1.0.0")
	waiting := waitingRun(t, p.Client, "asks", map[string]any{"name": personal})
	p.Signal(t, syscall.SIGKILL)
	p.Exit()
	again := servertest.On(t, data, servertest.Flags(t, map[string]string{"data": data, "token": token}))
	again.Token = token
	decide(t, again.Client, 200, waiting.ApprovalID, "approve", "", "")
	if run := ended(t, again.Client, waiting.RunID); !strings.Contains(string(run.Output), personal) {
		t.Errorf("it ended as %+v %+v", run, run.Error)
	}
	again.Stop(t)
	onlyDigests(t, again, "")
}

package servertest_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/atelier-run/atelier/server/servertest"
)

const (
	// smallServer is the maximum memory of a server that must survive floods of readers.
	smallServer = 512 << 20
	floodToken  = "a-token-that-is-long-enough-to-be-one"
)

// unread sends a request, and reads nothing of the answer until the test ends.
func unread(t *testing.T, p *servertest.Process, method, path string, body any, headers ...servertest.Headers) {
	t.Helper()
	r, err := p.Request(t.Context(), method, path, body, headers...)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // Ignore the error: the server may have closed the connection.
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	if err := r.Write(conn); err != nil {
		t.Fatal(err)
	}
}

// Regression: for each client that did not read its answer, the server kept all events, results and outputs in memory.
// 60 connections used 5.3 GB.
func TestReaderFloods_BoundedMemory(t *testing.T) {
	for name, flood := range map[string]func(t *testing.T, p *servertest.Process, run string){
		"60 connections do not read the events of a run of 15 MB": func(t *testing.T, p *servertest.Process, run string) {
			for i := range 60 {
				headers := servertest.Headers{"Accept": "application/json"}
				if i%2 == 0 {
					headers["Accept"] = "text/event-stream"
				}
				unread(t, p, "GET", "/api/v1/runs/"+run+"/events", nil, headers)
			}
		},
		"40 connections do not read a run of 15 MB": func(t *testing.T, p *servertest.Process, run string) {
			for range 40 {
				unread(t, p, "GET", "/api/v1/runs/"+run, nil)
			}
		},
		"50 callers do not read their outputs of 15 MB": func(t *testing.T, p *servertest.Process, _ string) {
			for range 50 {
				unread(t, p, "POST", "/api/v1/execute", servertest.ScriptBody("output-size 15000000"))
			}
		},
		"50 callers read their outputs of 15 MB": func(t *testing.T, p *servertest.Process, _ string) {
			var callers sync.WaitGroup
			for range 50 {
				callers.Go(func() {
					answer, err := p.Try(t.Context(), "POST", "/api/v1/execute", servertest.ScriptBody("output-size 15000000"))
					if err != nil || answer.Status != 200 && answer.Status != 429 {
						t.Errorf("answered %d, %v: %.200s", answer.Status, err, answer.Body)
					}
				})
			}
			callers.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := servertest.SpawnWith(t, t.TempDir(), []string{"GOMEMLIMIT=320MiB"}, "--script-runtime", "--token", floodToken, "--request-memory", fmt.Sprint(160<<20))
			p.Token = floodToken
			run := p.Want(t, 200, "POST", "/api/v1/execute", map[string]any{"language": "bash", "runtime": "script",
				"code": strings.Repeat("print "+strings.Repeat("x", 30_000)+"\n", 500/10) + "output-size 15000000", "limits": map[string]int64{"outputBytes": 16 << 20}}).Run(t)
			stop := holdTo(t, p, smallServer)
			flood(t, p, run.RunID)
			others(t, p)
			stop()
			t.Logf("the server's peak is %d MiB", memory(t, p.PID(), "VmHWM")>>20)
		})
	}
}

// others checks that small requests are answered during a flood. It prints how long they take.
func others(t *testing.T, p *servertest.Process) {
	t.Helper()
	var took []time.Duration
	for range 300 {
		began := time.Now()
		p.Want(t, 200, "POST", "/api/v1/execute", servertest.ScriptBody("output 1"))
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	t.Logf("other runs take %s at the median, %s at most", took[len(took)/2].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond))
}

// A slow reader of a list of events must get all events.
func TestRunEvents_SlowReader_WholeList(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"script-runtime": "true"}))
	run := s.Script(t, strings.Repeat("print "+strings.Repeat("x", 20_000)+"\n", 40)+"output 1").Run(t)
	r, err := s.Request(t.Context(), http.MethodGet, "/api/v1/runs/"+run.RunID+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }() // The answer was read.
	var text strings.Builder
	if _, err := bufio.NewReaderSize(answer.Body, 1<<10).WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	var list struct{ Items []struct{ Seq int64 } }
	servertest.Answer{Body: []byte(text.String())}.Into(t, &list)
	for i, e := range list.Items {
		if e.Seq != int64(i)+1 {
			t.Fatalf("event %d has seq %d", i, e.Seq)
		}
	}
	if len(list.Items) < 40 {
		t.Errorf("%d events", len(list.Items))
	}
}

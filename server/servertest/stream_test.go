package servertest_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/server/servertest"
)

func scripted(t *testing.T, flags map[string]string) *servertest.Server {
	t.Helper()
	all := map[string]string{"script-runtime": "true"}
	for name, value := range flags {
		all[name] = value
	}
	return servertest.New(t, servertest.Flags(t, all))
}

func kinds(events []runtimes.Event) string {
	var all []string
	for _, e := range events {
		all = append(all, string(e.Kind))
	}
	return strings.Join(all, " ")
}

// Events must arrive in order, one per frame, without gaps in seq. The result must be last, and then the socket must be
// closed normally.
func TestSocketFollowsARun(t *testing.T) {
	t.Parallel()
	s := scripted(t, nil)
	run := s.Start(t, "print one\nlog info hello {\"a\":1}\nprogress 1 2 half\nstderr two\noutput {\"ok\":true}")
	events, err := s.Stream(t, run, "").Rest(t)
	if !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
		t.Errorf("closed with %v", err)
	}
	if got := kinds(events); !strings.HasSuffix(got, "status stdout log progress stderr result") {
		t.Errorf("got %s", got)
	}
	for i, e := range events {
		if e.Seq != int64(i+1) || e.At.IsZero() {
			t.Errorf("event %d is %+v", i+1, e)
		}
	}
	var result servertest.Run
	if err := json.Unmarshal(events[len(events)-1].Data, &result); err != nil || string(result.Output) != `{"ok":true}` || result.RunID != run {
		t.Errorf("result is %s, %v", events[len(events)-1].Data, err)
	}
}

// A reader that reconnects with its last seq must miss no event and see none twice, both during the run and later.
func TestSocketResumes(t *testing.T) {
	t.Parallel()
	s := scripted(t, nil)
	run := s.Start(t, "print 1\nprint 2\nprint 3\nwait")
	first := s.Stream(t, run, "")
	var seen []runtimes.Event
	for len(seen) < 3 {
		e, err := first.Next(t)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, e)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	s.Want(t, 200, "POST", "/api/v1/runs/"+run+"/cancel", nil)
	rest, err := s.Stream(t, run, "?from=3").Rest(t)
	if !websocket.IsCloseError(err, websocket.CloseNormalClosure) || len(rest) == 0 || rest[0].Seq != 4 {
		t.Fatalf("got %s, %v", kinds(rest), err)
	}
	whole, _ := s.Stream(t, run, "").Rest(t)
	if got, want := kinds(append(seen, rest...)), kinds(whole); got != want {
		t.Errorf("in two parts %s\nin one %s", got, want)
	}
	again, err := s.Stream(t, run, fmt.Sprintf("?from=%d", whole[len(whole)-1].Seq)).Rest(t)
	if len(again) != 0 || !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
		t.Errorf("after the end: %s, %v", kinds(again), err)
	}
}

// The same events must be available as JSON, and as server-sent events with Last-Event-ID.
func TestEventsWithoutASocket(t *testing.T) {
	t.Parallel()
	s := scripted(t, nil)
	run := s.Start(t, "print 1\nprint 2\noutput 3")
	s.Wait(t, run)
	path := "/api/v1/runs/" + run + "/events"
	var list struct{ Items []runtimes.Event }
	s.Want(t, 200, "GET", path, nil).Into(t, &list)
	if !strings.HasSuffix(kinds(list.Items), "stdout stdout result") {
		t.Fatalf("got %s", kinds(list.Items))
	}
	last := list.Items[len(list.Items)-1].Seq
	var rest struct{ Items []runtimes.Event }
	s.Want(t, 200, "GET", path+"?from="+itoa(last-1), nil).Into(t, &rest)
	if kinds(rest.Items) != "result" {
		t.Errorf("got %s", kinds(rest.Items))
	}

	stream := s.Want(t, 200, "GET", path, nil, servertest.Headers{"Accept": "text/event-stream", "Last-Event-ID": itoa(last - 2)})
	if got := stream.Header.Get("Content-Type"); !strings.HasPrefix(got, "text/event-stream") {
		t.Errorf("type is %s", got)
	}
	var ids, names []string
	lines := bufio.NewScanner(strings.NewReader(string(stream.Body)))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			ids = append(ids, id)
		}
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			names = append(names, name)
		}
	}
	if strings.Join(names, " ") != "stdout result" || strings.Join(ids, " ") != itoa(last-1)+" "+itoa(last) {
		t.Errorf("got %v %v", ids, names)
	}
	s.Want(t, http.StatusNoContent, "GET", path, nil, servertest.Headers{"Accept": "text/event-stream", "Last-Event-ID": itoa(last)})
}

// Output must reach a reader while the program still runs.
func TestOutputIsLive(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	code := "import time\ndef main():\n    print('first')\n    while True: time.sleep(0.05)\n"
	answer := s.Want(t, 202, "POST", "/api/v1/execute", map[string]any{"language": "python", "code": code}, servertest.Headers{"Prefer": "respond-async"})
	run := answer.Run(t).RunID
	if answer.Header.Get("Location") != "/api/v1/runs/"+run || answer.Header.Get("Preference-Applied") != "respond-async" {
		t.Errorf("headers are %v", answer.Header)
	}
	socket := s.Stream(t, run, "")
	for {
		e, err := socket.Next(t)
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == runtimes.KindStdout {
			break
		}
	}
	if got := s.Get(t, run); got.Status != "running" || got.Stdout != "first\n" {
		t.Errorf("while it runs it is told as %+v", got)
	}
	if got := s.Want(t, 200, "POST", "/api/v1/runs/"+run+"/cancel", nil).Run(t); got.Status != "cancelled" || got.Error.Type != "cancelled" {
		t.Errorf("cancelled is %+v", got)
	}
	if p := s.Want(t, 409, "POST", "/api/v1/runs/"+run+"/cancel", nil).Problem(t); p.Code != "conflict" {
		t.Errorf("cancelled twice: %+v", p)
	}
}

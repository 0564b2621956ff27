package servertest_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/atelier-run/atelier/server/servertest"
)

// mostMemory is the maximum memory of a server with default settings, regardless of the requests that clients send at
// the same time.
const mostMemory = 1 << 30

// 200 clients with one token send bodies that use fifty times their size when they are decoded. They send them to
// routes that start a run and to other routes.
func TestHostileBodies_FixedMemory(t *testing.T) {
	t.Parallel()
	p := servertest.Spawn(t, t.TempDir(), "--script-runtime", "--token", "a-token-that-is-long-enough-to-be-one")
	p.Token = "a-token-that-is-long-enough-to-be-one"
	const size = 77 << 20 / 10
	arrays := strings.Repeat("[],", size/3) + "[]"
	sparse := strings.Repeat("[],     ", size/8-5000) + "[]" // The body has the maximum number of values.
	objects := strings.Repeat(`{"a":0},`, 330_000) + strings.Repeat(" ", size-8*330_000) + "{}"
	numbers := strings.Repeat("1,", size/2) + "1"
	text := strings.Repeat("x", size)
	schema := `,"inputSchema":{"type":"object","properties":{"a":{"type":"array","uniqueItems":true}}}`
	code := `{"language":"bash","runtime":"script","code":"output 1"`
	bodies := []struct{ path, text string }{
		{"/api/v1/validate", "[" + arrays + "]"},
		{"/api/v1/validate", `{"input":[` + objects + "]" + schema + "}"},
		{"/api/v1/execute", code + `,"input":{"a":[` + arrays + "]}" + schema + "}"},
		{"/api/v1/execute", code + `,"input":{"a":[` + numbers + "]}" + schema + "}"},
		{"/api/v1/execute", code + `,"input":{"a":[` + sparse + "]}" + schema + "}"},
		{"/api/v1/execute", code + `,"input":{"a":"` + text + `"}}`},
		{"/skills/execute", `{"skill":"none","args":{"a":[` + objects + "]}}"},
		{"/v1/skills/run", `{"name":"none","args":{"a":[` + sparse + "]}}"},
		{"/api/v1/code-agents", `{"name":"big","language":"python","files":{"main.py":"","data.txt":"` + text + `"}}`},
	}
	before := memory(t, p.PID(), "VmHWM")
	stopWatching := holdTo(t, p, mostMemory)
	var clients sync.WaitGroup
	var mu sync.Mutex
	statuses := map[string]int{}
	for client := range 200 {
		clients.Go(func() {
			body := bodies[client%len(bodies)]
			headers := servertest.Headers{}
			if client%2 == 0 {
				headers["Prefer"] = "respond-async"
			}
			answer, err := p.Try(t.Context(), "POST", body.path, body.text, headers)
			said := fmt.Sprint(answer.Status)
			if err != nil {
				said = "no answer"
			}
			if answer.Status == 429 && answer.Header.Get("Retry-After") == "" {
				said = "429 without Retry-After"
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[said]++
		})
	}
	clients.Wait()
	stopWatching()
	if t.Failed() {
		return
	}
	peak := memory(t, p.PID(), "VmHWM")
	t.Logf("the server's peak went from %d to %d MiB; answers: %v", before>>20, peak>>20, statuses)
	if peak > mostMemory {
		t.Errorf("the server took %d MiB, more than %d MiB", peak>>20, mostMemory>>20)
	}
	if statuses["no answer"]+statuses["429 without Retry-After"]+statuses["500"] > 0 {
		t.Errorf("answers: %v", statuses)
	}
	if got := p.Want(t, 200, "POST", "/api/v1/execute", bodies[5].text).Run(t); string(got.Output) != "1" {
		t.Errorf("after the flood a large input ends as %+v", got)
	}
}

// holdTo kills the server when it exceeds a memory limit, as a control group would do. The caller must call stop to end
// this check.
func holdTo(t *testing.T, p *servertest.Process, most int64) (stop func()) {
	t.Helper()
	ended, joined := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(joined)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
			}
			if took := memory(t, p.PID(), "VmRSS"); took > most {
				t.Errorf("the server was killed at %d MiB", took>>20)
				_ = p.Kill() // Ignore the error: the process may have ended.
				return
			}
		}
	}()
	return func() {
		close(ended)
		<-joined
	}
}

// memory reads a line of a process's status in bytes: VmRSS is the resident memory, VmHWM its peak. It returns 0 if the
// process has ended.
func memory(t *testing.T, pid int, line string) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	found := regexp.MustCompile(line + `:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		return 0
	}
	kilobytes, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil {
		t.Error(err)
	}
	return kilobytes << 10
}

package servertest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/server/servertest"
)

// smallHost is a control group for a whole server with its runs, as a container has.
type smallHost struct {
	dir string
	v2  bool
}

// newSmallHost creates a control group without a limit. If this is not allowed, it skips the test.
func newSmallHost(t *testing.T) smallHost {
	t.Helper()
	h := smallHost{dir: "/sys/fs/cgroup/memory", v2: false}
	if _, err := os.Stat(h.dir); err != nil {
		h = smallHost{dir: "/sys/fs/cgroup", v2: true}
	}
	h.dir = filepath.Join(h.dir, fmt.Sprintf("small-host-%d-%d", os.Getpid(), time.Now().UnixNano()))
	err := os.Mkdir(h.dir, 0o755)
	if err == nil {
		t.Cleanup(func() { h.remove(t) })
		_, err = os.Stat(filepath.Join(h.dir, h.file("limit_in_bytes", "max")))
	}
	if err != nil {
		t.Skipf("control groups of memory cannot be made here: %v", err)
	}
	return h
}

// remove removes the control groups. It waits until the kernel has removed their last process.
func (h smallHost) remove(t *testing.T) {
	servertest.Eventually(t, "the control group is empty", func() bool {
		groups, _ := filepath.Glob(filepath.Join(h.dir, "atelier-*", "*")) // These are the groups of the server that was killed.
		own, _ := filepath.Glob(filepath.Join(h.dir, "atelier-*"))
		for _, group := range append(groups, own...) {
			_ = os.Remove(group) // Ignore the error: this may be a file, or a group that is not empty yet.
		}
		err := os.Remove(h.dir)
		return err == nil || errors.Is(err, os.ErrNotExist) || !errors.Is(err, unix.EBUSY)
	})
}

func (h smallHost) file(v1, v2 string) string {
	if h.v2 {
		return "memory." + v2
	}
	return "memory." + v1
}

// shrink limits the memory of the group to its present use plus some bytes.
func (h smallHost) shrink(t *testing.T, more int64) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(h.dir, h.file("usage_in_bytes", "current")))
	if err != nil {
		t.Fatal(err)
	}
	used, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	limit := []byte(strconv.FormatInt(used+more, 10))
	if err := os.WriteFile(filepath.Join(h.dir, h.file("limit_in_bytes", "max")), limit, 0); err != nil {
		t.Fatal(err)
	}
	swap := limit
	if h.v2 {
		swap = []byte("0")
	}
	if err := os.WriteFile(filepath.Join(h.dir, h.file("memsw.limit_in_bytes", "swap.max")), swap, 0); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrPermission) {
		t.Fatal(err)
	}
}

// Regression: if the container of the server had too little memory, a program below its own memory limit was told that it had
// exceeded its limit.
func TestLackOfHostMemory_NotBlamedOnProgram(t *testing.T) {
	host := newSmallHost(t)
	const token = "a-token-that-is-long-enough-to-be-one"
	p := servertest.SpawnIn(t, filepath.Join(host.dir, "cgroup.procs"), t.TempDir(), "--token", token, "--warm", "1", "--script-runtime")
	p.Token = token
	takes := func(megabytes int) map[string]any {
		return map[string]any{"language": "python", "code": fmt.Sprintf("def main():\n    return len(bytearray(%d << 20))", megabytes), "input": map[string]any{}, "limits": map[string]any{"memoryBytes": 256 << 20}}
	}
	if run := p.Want(t, 200, "POST", "/api/v1/execute", takes(192)).Run(t); run.Status != "succeeded" {
		t.Fatalf("with enough memory: %+v", run)
	}
	if run := p.Want(t, 200, "POST", "/api/v1/execute", takes(400)).Run(t); run.Error == nil || run.Error.Type != "memory_limit" {
		t.Errorf("above its own limit: %+v", run)
	}
	host.shrink(t, 100<<20)
	answer := p.Do(t, "POST", "/api/v1/execute", takes(192))
	if answer.Status != 503 || answer.Problem(t).Code != "sandbox_unavailable" || !strings.Contains(answer.Problem(t).Detail, "memory") || answer.Header.Get("Retry-After") == "" {
		t.Errorf("with too little memory for the server: %d %v %s", answer.Status, answer.Header, answer.Body)
	}
	var list struct{ Items []servertest.Run }
	p.Want(t, 200, "GET", "/api/v1/runs?status=interrupted", nil).Into(t, &list)
	if len(list.Items) != 1 || list.Items[0].Error == nil || !strings.Contains(list.Items[0].Error.Message, "below its own memory limit") {
		t.Errorf("the run is recorded as %+v", list.Items)
	}
	p.Want(t, 200, "GET", "/ready", nil)
	servertest.Eventually(t, "small programs run", func() bool {
		answer := p.Do(t, "POST", "/api/v1/execute", takes(1))
		return answer.Status == 200 && answer.Run(t).Status == "succeeded"
	})
}

// If the host runs out of memory, the kernel kills programs before the server.
func TestJails_LackOfMemory_EndBeforeServer(t *testing.T) {
	t.Parallel()
	const token = "a-token-that-is-long-enough-to-be-one"
	p := servertest.Spawn(t, t.TempDir(), "--token", token)
	p.Token = token
	p.Want(t, 200, "POST", "/api/v1/execute", map[string]any{"language": "python", "code": "def main(): return 1", "input": map[string]any{}})
	own, _ := scoreOf(p.PID())
	jails := 0
	servertest.Eventually(t, "the score of every jail is above that of the server", func() bool {
		jails = 0
		for _, pid := range childrenOf(p.PID()) {
			score, alive := scoreOf(pid)
			if alive && score < own {
				t.Fatalf("the score of a jail is %d, that of the server %d", score, own)
			}
			if alive && score == own && own < leastScoreOfJails { // The process has just started.
				return false
			}
			if alive {
				jails++
			}
		}
		return jails > 0
	})
}

// leastScoreOfJails is the minimum OOM score of jails. In a container the test process may have a higher score, and
// jails inherit it.
const leastScoreOfJails = 500

func scoreOf(pid int) (score int, alive bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid))
	if err != nil {
		return 0, false
	}
	score, err = strconv.Atoi(strings.TrimSpace(string(text)))
	return score, err == nil
}

func childrenOf(pid int) (all []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // The error is impossible: the pattern is valid.
	for _, file := range files {
		text, _ := os.ReadFile(file) // Ignore the error: a thread may have ended.
		for field := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

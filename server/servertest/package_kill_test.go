package servertest_test

import (
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/atelier-run/atelier/runtimes/packages/packagestest"
	"github.com/atelier-run/atelier/server/servertest"
)

// TestPackages_Killed kills a server with SIGKILL in the middle of a download. The next server must install the
// packages and remove the incomplete files.
func TestPackages_Killed(t *testing.T) {
	t.Parallel()
	const token = "a-token-that-is-long-enough-to-be-one"
	index, dir, data := packagestest.NewIndex(t, shouting()), packagestest.Dir(t), t.TempDir()
	slow, reached := &atomic.Bool{}, make(chan struct{}, 16)
	wheel := greetings("1.0.0")
	content := wheel.Bytes(t)
	index.AddHandler("greetings", wheel.Filename(), wheel.Hash(t)[len("sha256:"):], func(w http.ResponseWriter, r *http.Request) {
		if !slow.Load() {
			_, _ = w.Write(content)
			return
		}
		_, _ = w.Write(content[:len(content)/2])
		_ = http.NewResponseController(w).Flush()
		reached <- struct{}{}
		<-r.Context().Done() // Wait until the server is killed.
	})
	flags := []string{"--token", token, "--python-index", index.Simple(), "--uv", packagestest.UV(t), "--packages-dir", dir}
	p := servertest.Spawn(t, data, flags...)
	p.Token = token
	p.Create(t, map[string]any{"name": "greeter", "language": "python", "code": greeter, "packages": []string{"greetings"}})
	p.Want(t, 200, "POST", "/api/v1/code-agents/greeter/packages/resolve", `{}`)
	slow.Store(true)
	p.Want(t, 202, "POST", "/api/v1/code-agents/greeter/execute", map[string]any{"version": "draft", "input": map[string]any{"name": "Ada"}}, servertest.Headers{"Prefer": "respond-async"})
	<-reached
	p.Signal(t, syscall.SIGKILL)
	p.Exit()
	if locks, err := filepath.Glob(filepath.Join(dir, "locks", "*", "*")); err != nil || len(locks) != 0 {
		t.Errorf("a killed installation is found as installed: %v, %v", locks, err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "temporary", "process-*"))
	if err != nil || len(left) == 0 {
		t.Fatalf("the killed server left %v, %v", left, err)
	}
	slow.Store(false)
	p = servertest.Spawn(t, data, flags...)
	p.Token = token
	run := p.Execute(t, "greeter", "draft", map[string]any{"name": "Ada"})
	if !run.Success || string(run.Output) != `{"text":"HELLO ADA","version":"1.0.0"}` {
		t.Fatalf("after the restart: %+v %s", run.Error, run.Output)
	}
	for _, path := range left {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
}

// Package servertest starts a whole server with the real sandbox. Tests that use it call the API as a client would.
package servertest

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/config"
	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/server/app"
	"github.com/atelier-run/atelier/studio/access"

	"os"
	"testing/fstest"
)

// Server is a running server, together with a client that is signed in with a token.
type Server struct {
	*Client
	App  *app.App
	Data string
	Log  *Log

	stop    context.CancelFunc
	stopped chan struct{}
	once    sync.Once
	failure error
}

// Setup changes the options of a server before it starts.
type Setup func(*app.Options)

// Flags sets configuration values, in the same way as flags of the command line.
func Flags(t testing.TB, flags map[string]string) Setup {
	return func(o *app.Options) {
		t.Helper()
		flags["data"] = o.Config.Data
		if flags["listen"] == "" {
			flags["listen"] = "127.0.0.1:0"
		}
		o.Config = load(t, flags)
	}
}

// Traces passes every span to an exporter.
func Traces(traces *telemetry.Traces) Setup {
	return func(o *app.Options) { o.Traces = traces }
}

// New starts a server on a free port with its own data directory. The server is stopped when the test ends.
func New(t testing.TB, setup ...Setup) *Server {
	t.Helper()
	data := t.TempDir()
	return On(t, data, append(setup, func(o *app.Options) {
		if o.Config.DatabaseURL == "" {
			storetest.Put(t, filepath.Join(data, "atelier.db"))
		}
	})...)
}

// On starts a server on an existing data directory.
func On(t testing.TB, data string, setup ...Setup) *Server {
	t.Helper()
	log := &Log{}
	o := app.Options{
		Config: load(t, map[string]string{"listen": "127.0.0.1:0", "data": data}), Version: "test", Log: telemetry.NewLog(log, "text", slog.LevelDebug),
		Studio:  fstest.MapFS{"index.html": {Data: []byte("<!doctype html><title>Studio</title>")}, "assets/app-1.js": {Data: []byte("1")}},
		Samples: os.DirFS(filepath.Join(Root(t), "samples")), Exe: sandboxtest.Exe(t),
		// Use a low cost, because under the race detector a hash at full cost takes a third of a second and 64 MiB.
		Cost: access.Cost{Time: 1, Memory: 64, Threads: 1},
	}
	for _, change := range setup {
		change(&o)
	}
	o.Examined = examined(o)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	a, err := app.Open(ctx, o)
	if err != nil {
		stop()
		t.Fatal(err)
	}
	listener, err := a.Listen(ctx)
	if err != nil {
		stop()
		t.Fatal(err, a.Close())
	}
	token, err := a.Token(ctx, "test")
	if err != nil {
		stop()
		t.Fatal(err, a.Close())
	}
	s := &Server{App: a, Data: data, Log: log, stop: stop, stopped: make(chan struct{})}
	s.Client = &Client{URL: "http://" + listener.Addr().String(), Token: token}
	go s.serve(ctx, listener)
	t.Cleanup(func() {
		s.Stop(t)
		if t.Failed() {
			t.Logf("the server's log:\n%s", s.Log)
		}
		// Package testing keeps references to the functions that are passed to Cleanup, and therefore to this server, until
		// all parallel tests have ended. The servers of 900 tests used 7 GB, which slowed down the garbage collection and the
		// start of every process.
		s.App, s.Log, s.Client = nil, nil, nil
	})
	return s
}

func (s *Server) serve(ctx context.Context, listener net.Listener) {
	defer close(s.stopped)
	s.failure = s.App.Serve(ctx, listener)
}

// Ask makes the server start to shut down, as a signal does. It does not wait.
func (s *Server) Ask() { s.stop() }

// Stop stops the server as a signal does and closes it.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	s.once.Do(func() {
		s.stop()
		<-s.stopped
		s.CloseIdle()
		if s.failure != nil {
			t.Error(s.failure)
		}
		if err := s.App.Close(); err != nil {
			t.Error(err)
		}
		keep(t, s.App)
	})
}

func load(t testing.TB, flags map[string]string) config.Config {
	t.Helper()
	empty := filepath.Join(t.TempDir(), "atelier.yaml")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"drain-delay": "0s"} // The delay is 0, because no load balancer waits for the end of a test.
	maps.Copy(all, flags)
	c, err := config.Load(config.Sources{File: empty, Getenv: func(string) string { return "" }, Flags: all})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Root returns the root directory of the Go module.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("the tests run outside of the module")
		}
		dir = filepath.Dir(dir)
	}
}

// Eventually waits until a condition holds. It is for conditions that another process or goroutine causes.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	limit := time.After(30 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("not within 30 seconds: %s", what)
		}
	}
}

// Log stores the logged lines.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

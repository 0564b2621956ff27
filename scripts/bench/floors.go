package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/go-chi/chi/v5"
	_ "modernc.org/sqlite" // SQLite driver, which the server's store also uses

	"github.com/atelier-run/atelier/scripts/load"
)

// floors holds lower bounds for this machine in milliseconds, such as the median time of a minimal HTTP request. A
// bound that cannot be measured is zero.
type floors struct {
	http, insert, python, bash, node, process, namespaces float64
}

// measureFloors measures the lower bounds. It starts the interpreters that the server reports. A python3 on PATH may be
// a shim that starts another interpreter.
func measureFloors(ctx context.Context, span time.Duration, server load.Client) (floors, error) {
	var f floors
	programs, err := interpreters(ctx, server)
	if err != nil {
		return f, err
	}
	if f.http, err = loopback(ctx, span/2); err != nil {
		return f, err
	}
	if f.insert, err = durableInsert(ctx, span/2); err != nil {
		return f, err
	}
	f.python = command(ctx, span/2, 0, programs["python"], "-I", "-S", "-c", "pass")
	f.bash = command(ctx, span/2, 0, programs["bash"], "-c", ":")
	f.node = command(ctx, span/2, 0, "node", "-e", "0")
	f.process = command(ctx, span/2, 0, "/bin/true")
	f.namespaces = command(ctx, span/2, syscall.CLONE_NEWUSER|syscall.CLONE_NEWPID|syscall.CLONE_NEWNS|syscall.CLONE_NEWIPC|syscall.CLONE_NEWUTS, "/bin/true")
	return f, nil
}

func (f floors) section() section {
	s := section{title: "Floors of this machine"}
	for _, floor := range []struct {
		what string
		ms   float64
	}{
		{"HTTP over loopback", f.http}, {"one durable insert (SQLite, WAL, fsync)", f.insert}, {"python3 -I -S -c pass", f.python}, {"bash -c :", f.bash},
		{"node -e 0", f.node}, {"start and end of a process", f.process}, {"the same in new namespaces", f.namespaces},
	} {
		r := row{what: floor.what, measured: fmt.Sprintf("%.3f ms", floor.ms)}
		if floor.ms == 0 {
			r.measured = "not here"
		}
		s.rows = append(s.rows, r)
	}
	return s
}

// interpreters returns, for each language, the path of the interpreter that the server starts.
func interpreters(ctx context.Context, server load.Client) (map[string]string, error) {
	var got struct {
		Languages []struct{ Language, Interpreter string }
	}
	if err := server.Get(ctx, "/api/v1/capabilities", &got); err != nil {
		return nil, err
	}
	paths := map[string]string{}
	for _, language := range got.Languages {
		paths[language.Language] = language.Interpreter
	}
	return paths, nil
}

// loopback measures a minimal HTTP server in a separate process. The only handler of this server reads a body and sends
// an answer of the same size as the answer to a run.
func loopback(ctx context.Context, span time.Duration) (ms float64, err error) {
	err = within(ctx, peer{name: "bare", start: startBare}, func(client load.Client) error {
		got := load.Closed(ctx, 1, span, func(ctx context.Context, _ int) error {
			_, err := client.Post(ctx, "/", []byte(`{"version":"1.0.0","input":{"a":1,"b":2}}`))
			return err
		})
		ms = got.At(0.5)
		return got.Fault
	})
	return ms, err
}

func startBare(ctx context.Context) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, self, "-bare"), nil
}

// bare runs the minimal HTTP server and prints its address.
func bare() error {
	var l net.ListenConfig
	listener, err := l.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	answer := []byte(`{"answer":"` + strings.Repeat("x", 1200) + `"}`)
	router := chi.NewRouter()
	router.Post("/", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(answer)
	})
	if _, err := fmt.Printf("http://%s\n", listener.Addr()); err != nil {
		return err
	}
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: router}
	return server.Serve(listener)
}

// durableInsert measures a transaction that inserts one row. The row has the size of a run's row, and the sync settings
// are those of the server.
func durableInsert(ctx context.Context, span time.Duration) (ms float64, err error) {
	dir, err := os.MkdirTemp("", "atelier-bench")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "floor.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return 0, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "CREATE TABLE runs (id INTEGER PRIMARY KEY, at TEXT, record TEXT); CREATE INDEX runs_at ON runs (at)"); err != nil {
		return 0, err
	}
	insert, err := db.PrepareContext(ctx, "INSERT INTO runs (at, record) VALUES (?, ?)")
	if err != nil {
		return 0, err
	}
	defer insert.Close()
	record := strings.Repeat("x", 500)
	got := load.Closed(ctx, 1, span, func(ctx context.Context, _ int) error {
		_, err := insert.ExecContext(ctx, time.Now().Format(time.RFC3339Nano), record)
		return err
	})
	return got.At(0.5), got.Fault
}

// command measures the time to run a program, from start to exit. If namespaces is not 0, the program runs in new
// namespaces.
func command(ctx context.Context, span time.Duration, namespaces uintptr, name string, args ...string) float64 {
	return load.Closed(ctx, 1, span, func(ctx context.Context, _ int) error {
		c := exec.CommandContext(ctx, name, args...)
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: namespaces}
		return c.Run()
	}).At(0.5)
}

// Package load starts a real server in a separate process and runs programs with known answers on it. The commands bench,
// soak, kill and profile use it.
package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// token is the administrator's token of every server that this package starts.
const token = "load-0123456789abcdef0123456789abcdef"

// Options configures a server. If Data is empty, the server uses a temporary directory that is removed at the end.
type Options struct {
	Binary    string
	Data      string
	Temporary string // TMPDIR of the server; "" means the TMPDIR of this process
	Flags     []string
}

// Server is a server in a separate process.
type Server struct {
	Client
	Ready time.Duration // time from the start until /ready answers with success

	process *exec.Cmd
	own     string // directory that is removed at the end; "" for none
	drained chan struct{}
	output  lines
}

var address = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// Start starts a server and waits until it is ready.
func Start(ctx context.Context, o Options) (*Server, error) {
	binary, err := filepath.Abs(o.Binary)
	if err != nil {
		return nil, err
	}
	s := &Server{drained: make(chan struct{})}
	if o.Data == "" {
		if s.own, err = os.MkdirTemp("", "atelier-load"); err != nil {
			return nil, err
		}
		o.Data = filepath.Join(s.own, "data")
	}
	s.process = exec.Command(binary, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", o.Data}, o.Flags...)...)
	s.process.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + o.Data, "ATELIER_TOKEN=" + token, "ATELIER_LOG_LEVEL=error"}
	if o.Temporary != "" {
		s.process.Env = append(s.process.Env, "TMPDIR="+o.Temporary)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.process.Stdout, s.process.Stderr = writer, writer
	began := time.Now()
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	writer.Close()
	found := make(chan string, 1)
	go s.read(reader, found)
	base, ok := <-found
	if !ok {
		return nil, fmt.Errorf("the server ended before it had an address:\n%s", errors.Join(s.Stop(), errors.New(s.output.String())))
	}
	s.Client = NewClient(base)
	if err := s.awaitReady(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	s.Ready = time.Since(began)
	return s, nil
}

func (s *Server) awaitReady(ctx context.Context) error {
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Base+"/ready", http.NoBody)
		if err != nil {
			return err
		}
		response, err := s.http.Do(request)
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-s.drained:
			return fmt.Errorf("the server ended before it was ready:\n%s", s.output.String())
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}

// read searches the server's output for its address. It then continues to read, so that the server never blocks while
// it writes.
func (s *Server) read(output io.ReadCloser, found chan<- string) {
	defer close(s.drained)
	defer output.Close()
	var once sync.Once
	defer once.Do(func() { close(found) })
	text := bufio.NewScanner(output)
	for text.Scan() {
		s.output.add(text.Text())
		if url := address.FindString(text.Text()); url != "" {
			once.Do(func() { found <- url; close(found) })
		}
	}
}

// Pid returns the server's process ID.
func (s *Server) Pid() int { return s.process.Process.Pid }

// Output returns the end of the server's output.
func (s *Server) Output() string { return s.output.String() }

// Stop requests the server to stop and waits until it has ended.
func (s *Server) Stop() error { return s.end(syscall.SIGTERM) }

// Kill kills the server with SIGKILL. The server's child processes may have its output open. Kill returns when these
// processes have ended too.
func (s *Server) Kill() error { return s.end(syscall.SIGKILL) }

func (s *Server) end(signal syscall.Signal) error {
	_ = s.process.Process.Signal(signal)
	err := s.process.Wait()
	<-s.drained
	if s.own != "" {
		err = errors.Join(err, os.RemoveAll(s.own))
	}
	if signal == syscall.SIGKILL {
		return nil
	}
	return err
}

// lines keeps the last lines of the server's output.
type lines struct {
	mu   sync.Mutex
	kept []string
}

func (l *lines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) == 20 {
		l.kept = l.kept[1:]
	}
	l.kept = append(l.kept, line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.kept, "\n")
}

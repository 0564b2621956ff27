// Package e2btest simulates E2B for tests. It implements the control API. If ATELIER_TEST_ENVD is the path of the real
// envd, that envd serves the requests to a sandbox. Otherwise this package serves them and implements the recorded part
// of the protocol.
package e2btest

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Key is the only key that the service accepts.
const Key = "e2b_test"

// Service is a running simulation of E2B.
type Service struct {
	URL string
	// Before is called before every request is handled. If it returns true, it has written the response itself.
	Before func(w http.ResponseWriter, r *http.Request) bool

	envd string // path of the real envd; "" if this package serves the requests

	mu      sync.Mutex
	boxes   map[string]*box
	created []map[string]any
}

// box is one sandbox.
type box struct {
	id, token string
	metadata  map[string]string
	proxy     http.Handler // forwards requests to the real envd; nil if this package serves them
	stop      context.CancelFunc
	ctx       context.Context
	done      sync.WaitGroup

	mu      sync.Mutex
	procs   map[int]*proc
	folders map[string]bool // folders in /tmp with uploaded files
}

// New starts a service.
func New(tb testing.TB) *Service {
	tb.Helper()
	if _, err := exec.LookPath("unshare"); err != nil {
		tb.Fatal("unshare of util-linux is needed to run sandboxes")
	}
	s := &Service{envd: os.Getenv("ATELIER_TEST_ENVD"), boxes: map[string]*box{}}
	if s.envd == "" {
		tb.Log("ATELIER_TEST_ENVD names no envd: its protocol is spoken by this test")
	}
	server := httptest.NewServer(s)
	s.URL = server.URL
	tb.Cleanup(func() {
		for _, id := range s.Sandboxes() {
			s.Kill(id)
		}
		server.Close()
	})
	return s
}

// Sandboxes lists the IDs of the existing sandboxes.
func (s *Service) Sandboxes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.boxes))
}

// Created returns the bodies of the requests that created sandboxes.
func (s *Service) Created() []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.created)
}

// Kill ends a sandbox, as E2B does at the end of its lifetime. It returns false if the sandbox does not exist.
func (s *Service) Kill(id string) bool {
	s.mu.Lock()
	b := s.boxes[id]
	delete(s.boxes, id)
	s.mu.Unlock()
	if b == nil {
		return false
	}
	b.stop()
	b.done.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	for folder := range b.folders {
		_ = os.RemoveAll(folder) // E2B deletes the disk of a sandbox, so this removes its folder
	}
	return true
}

// ServeHTTP implements http.Handler.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case s.Before != nil && s.Before(w, r):
	case r.Header.Get("E2b-Sandbox-Id") != "":
		s.inside(w, r)
	case r.Header.Get("X-API-Key") != Key:
		reply(w, http.StatusUnauthorized, map[string]any{"code": 401, "message": "Invalid API key"})
	case r.Method == http.MethodPost && r.URL.Path == "/sandboxes":
		s.create(w, r)
	case r.Method == http.MethodGet && r.URL.Path == "/v2/sandboxes":
		s.list(w, r)
	case r.Method == http.MethodDelete && strings.HasPrefix(r.URL.Path, "/sandboxes/"):
		if !s.Kill(strings.TrimPrefix(r.URL.Path, "/sandboxes/")) {
			reply(w, http.StatusNotFound, map[string]any{"code": 404, "message": "sandbox not found"})
			return
		}
		w.WriteHeader(http.StatusNoContent)
	default:
		reply(w, http.StatusNotFound, map[string]any{"code": 404, "message": "no such route"})
	}
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // after an error the client receives an incomplete response
}

func (s *Service) create(w http.ResponseWriter, r *http.Request) {
	var body struct {
		TemplateID string
		Timeout    int
		Metadata   map[string]string
		Network    struct{ AllowOut, DenyOut []string }
	}
	text, err := io.ReadAll(r.Body)
	var all map[string]any
	if err != nil || json.Unmarshal(text, &body) != nil || json.Unmarshal(text, &all) != nil || body.TemplateID == "" || body.Timeout <= 0 {
		reply(w, http.StatusBadRequest, map[string]any{"code": 400, "message": "bad body"})
		return
	}
	// E2B requires this entry if allowOut contains names.
	if len(body.Network.AllowOut) > 0 && !slices.Contains(body.Network.DenyOut, "0.0.0.0/0") {
		reply(w, http.StatusBadRequest, map[string]any{"code": 400, "message": "denyOut must include ALL_TRAFFIC"})
		return
	}
	b := &box{id: "i" + strings.ToLower(rand.Text()), token: rand.Text(), metadata: body.Metadata, procs: map[int]*proc{}, folders: map[string]bool{}}
	b.ctx, b.stop = context.WithTimeout(context.Background(), time.Duration(body.Timeout)*time.Second)
	if s.envd != "" {
		if err := b.boot(s.envd); err != nil {
			b.stop()
			reply(w, http.StatusInternalServerError, map[string]any{"code": 500, "message": err.Error()})
			return
		}
	}
	s.mu.Lock()
	s.boxes[b.id], s.created = b, append(s.created, all)
	s.mu.Unlock()
	reply(w, http.StatusCreated, map[string]any{"templateID": body.TemplateID, "sandboxID": b.id, "clientID": "x", "envdVersion": "0.6.13", "envdAccessToken": b.token, "domain": nil})
}

func (s *Service) list(w http.ResponseWriter, r *http.Request) {
	want, err := url.ParseQuery(r.URL.Query().Get("metadata"))
	if err != nil {
		reply(w, http.StatusBadRequest, map[string]any{"code": 400, "message": "bad metadata"})
		return
	}
	found := []map[string]any{}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(s.boxes)) {
		fits := true
		for key := range want {
			fits = fits && s.boxes[id].metadata[key] == want.Get(key)
		}
		if fits {
			found = append(found, map[string]any{"sandboxID": id, "metadata": s.boxes[id].metadata, "state": "running"})
		}
	}
	reply(w, http.StatusOK, found)
}

// isolated returns a command in its own mount and process namespaces. When the command ends, all processes in the namespaces
// end.
func isolated(ctx context.Context, script string, args ...string) *exec.Cmd {
	flags := []string{"--mount", "--pid", "--mount-proc", "--fork", "--kill-child"}
	if os.Geteuid() != 0 {
		flags = append(flags, "--map-root-user")
	}
	command := exec.CommandContext(ctx, "unshare", append(append(flags, "sh", "-c", "mount -t tmpfs tmpfs /dev/shm && "+script), args...)...)
	command.Cancel = func() error { return command.Process.Kill() }
	command.WaitDelay = time.Second
	return command
}

// boot starts a real envd.
func (b *box) boot(path string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := listener.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	if err := listener.Close(); err != nil {
		return err
	}
	command := isolated(b.ctx, `mount -t tmpfs tmpfs /run && exec "$0" "$@"`, path, "-isnotfc", "-no-cgroups", "-port", port)
	if err := command.Start(); err != nil {
		return err
	}
	b.done.Go(func() { _ = command.Wait() }) // killed
	target := &url.URL{Scheme: "http", Host: address}
	b.proxy = &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { // this machine has no user named user
		p.SetURL(target)
		p.Out.SetBasicAuth("root", "")
		if query := p.Out.URL.Query(); query.Has("username") {
			query.Set("username", "root")
			p.Out.URL.RawQuery = query.Encode()
		}
	}, FlushInterval: -1}
	for range 200 {
		init, err := http.Post(target.String()+"/init", "application/json", strings.NewReader(`{"accessToken":"`+b.token+`"}`))
		if err == nil {
			_ = init.Body.Close()
			if init.StatusCode < 300 {
				return nil
			}
			return fmt.Errorf("envd: %s", init.Status)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return errors.New("envd does not answer")
}

// inside serves a request to envd.
func (s *Service) inside(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	b := s.boxes[r.Header.Get("E2b-Sandbox-Id")]
	s.mu.Unlock()
	if b == nil || r.Header.Get("E2b-Sandbox-Port") != "49983" {
		reply(w, http.StatusBadGateway, map[string]any{"code": 502, "message": "The sandbox was not found"})
		return
	}
	if b.proxy != nil {
		b.proxy.ServeHTTP(w, r)
		return
	}
	if user, _, ok := r.BasicAuth(); !ok || user == "" || r.Header.Get("X-Access-Token") != b.token {
		reply(w, http.StatusUnauthorized, map[string]any{"code": 401, "message": "unauthorized"})
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "POST /files":
		b.upload(w, r)
	case "GET /files":
		http.ServeFile(w, r, r.URL.Query().Get("path"))
	case "POST /process.Process/Start":
		b.start(w, r)
	case "POST /process.Process/Connect":
		b.connect(w, r)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (b *box) upload(w http.ResponseWriter, r *http.Request) {
	form, err := r.MultipartReader()
	for err == nil {
		part, next := form.NextPart()
		if errors.Is(next, io.EOF) {
			reply(w, http.StatusOK, []any{})
			return
		}
		if err = next; err == nil {
			err = b.write(part.Header.Get("Content-Disposition"), part)
		}
	}
	reply(w, http.StatusBadRequest, map[string]any{"code": 400, "message": err.Error()})
}

func (b *box) write(disposition string, body io.Reader) error {
	_, name, ok := strings.Cut(disposition, `filename="`)
	name, _, closed := strings.Cut(name, `"`)
	if !ok || !closed || !strings.HasPrefix(name, "/tmp/atelier-") {
		return fmt.Errorf("a part with %s", disposition)
	}
	folder, _, _ := strings.Cut(strings.TrimPrefix(name, "/tmp/"), "/")
	b.mu.Lock()
	b.folders["/tmp/"+folder] = true
	b.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o600)
}

// proc is one process with the output that it has written so far.
type proc struct {
	pid int

	mu      sync.Mutex
	changed chan struct{}
	events  []any
	ended   bool
}

func (p *proc) emit(e any, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events, p.ended = append(p.events, map[string]any{"event": e}), ended
	close(p.changed)
	p.changed = make(chan struct{})
}

type output struct {
	proc *proc
	name string
}

func (o output) Write(data []byte) (int, error) {
	o.proc.emit(map[string]any{"data": map[string]string{o.name: base64.StdEncoding.EncodeToString(data)}}, false)
	return len(data), nil
}

// message decodes the message in the body of a Connect request.
func message(r *http.Request, into any) error {
	data, err := io.ReadAll(r.Body)
	if err == nil && (len(data) < 5 || r.Header.Get("Content-Type") != "application/connect+json" || r.Header.Get("Connect-Protocol-Version") != "1" || data[0] != 0 || int(binary.BigEndian.Uint32(data[1:])) != len(data)-5) {
		err = errors.New("not the Connect protocol")
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(data[5:], into)
}

func (b *box) start(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Process struct {
			Cmd  string
			Args []string
			Cwd  string
		}
	}
	if err := message(r, &asked); err != nil {
		reply(w, http.StatusUnsupportedMediaType, map[string]any{"code": "invalid_argument", "message": err.Error()})
		return
	}
	p := &proc{changed: make(chan struct{})}
	command := isolated(b.ctx, `exec "$0" "$@"`, append([]string{asked.Process.Cmd}, asked.Process.Args...)...)
	command.Dir, command.Stdout, command.Stderr = asked.Process.Cwd, output{p, "stdout"}, output{p, "stderr"}
	if err := command.Start(); err != nil {
		reply(w, http.StatusInternalServerError, map[string]any{"code": "internal", "message": err.Error()})
		return
	}
	p.pid = command.Process.Pid
	b.mu.Lock()
	b.procs[p.pid] = p
	b.mu.Unlock()
	p.mu.Lock()
	p.events = append([]any{map[string]any{"event": map[string]any{"start": map[string]int{"pid": p.pid}}}}, p.events...)
	p.mu.Unlock()
	b.done.Go(func() {
		_ = command.Wait() // the exit code is in ProcessState
		code := command.ProcessState.ExitCode()
		status := "exit status " + strconv.Itoa(code)
		if state, ok := command.ProcessState.Sys().(syscall.WaitStatus); ok && state.Signaled() {
			status = "signal: " + state.Signal().String()
		}
		if b.ctx.Err() == nil {
			p.emit(map[string]any{"end": map[string]any{"exitCode": code, "exited": true, "status": status}}, true)
		}
	})
	b.stream(w, r, p, 0)
}

func (b *box) connect(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Process struct{ PID int } }
	err := message(r, &asked)
	b.mu.Lock()
	p := b.procs[asked.Process.PID]
	b.mu.Unlock()
	if err != nil || p == nil {
		frame(w, 2, map[string]any{"error": map[string]string{"code": "not_found", "message": "process not found"}})
		return
	}
	p.mu.Lock()
	from := len(p.events) // the method connect sends only output that comes later
	p.mu.Unlock()
	frame(w, 0, map[string]any{"event": map[string]any{"start": map[string]int{"pid": p.pid}}})
	b.stream(w, r, p, from)
}

// stream sends the messages of a process until the process, the sandbox or the client's connection ends.
func (b *box) stream(w http.ResponseWriter, r *http.Request, p *proc, from int) {
	w.Header().Set("Content-Type", "application/connect+json")
	for {
		p.mu.Lock()
		events, changed, ended := p.events[from:], p.changed, p.ended
		p.mu.Unlock()
		for _, e := range events {
			frame(w, 0, e)
		}
		from += len(events)
		_ = http.NewResponseController(w).Flush() // a broken connection ends the request
		if ended {
			frame(w, 2, map[string]any{})
			return
		}
		select {
		case <-changed:
		case <-b.ctx.Done():
			panic(http.ErrAbortHandler)
		case <-r.Context().Done():
			return
		}
	}
}

func frame(w io.Writer, flag byte, body any) {
	text, _ := json.Marshal(body) // marshaling plain values never fails
	_, _ = w.Write(append(binary.BigEndian.AppendUint32([]byte{flag}, uint32(len(text))), text...))
}

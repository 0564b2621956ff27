package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const token = "bench-0123456789abcdef0123456789abcdef"

// agent is a program that adds two numbers.
type agent struct {
	name, language, entrypoint, code string
}

var agents = []agent{
	{"bench-js", "javascript", "main.js", "export default function main({ a, b }) {\n  return { sum: a + b };\n}\n"},
	{"bench-py", "python", "main.py", "def main(input, ctx):\n    return {\"sum\": input[\"a\"] + input[\"b\"]}\n"},
	{"bench-sh", "bash", "main.sh", `[[ $INPUT =~ \"a\":\ *([0-9]+).*\"b\":\ *([0-9]+) ]]` + "\n" + `echo "{\"sum\":$((BASH_REMATCH[1] + BASH_REMATCH[2]))}" >"$OUTPUT"` + "\n"},
}

// server is the program under measurement, with a data directory of its own.
type server struct {
	process *exec.Cmd
	data    string
	base    string
	ready   time.Duration
	drained chan struct{}
}

var address = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// startServer starts the binary and waits until it answers that it is ready.
func startServer(ctx context.Context, binary string) (*server, error) {
	data, err := os.MkdirTemp("", "atelier-bench")
	if err != nil {
		return nil, err
	}
	binary, err = filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	s := &server{data: data, drained: make(chan struct{})}
	s.process = exec.CommandContext(ctx, binary, "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(data, "data"))
	s.process.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + data, "ATELIER_TOKEN=" + token, "ATELIER_LOG_LEVEL=error"}
	s.process.Cancel = func() error { return s.process.Process.Signal(syscall.SIGTERM) }
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
	var ok bool
	if s.base, ok = <-found; !ok {
		s.stop()
		return nil, errors.New("the server ended without an address")
	}
	for ctx.Err() == nil {
		response, err := http.Get(s.base + "/ready")
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				s.ready = time.Since(began)
				return s, nil
			}
		}
		time.Sleep(time.Millisecond)
	}
	s.stop()
	return nil, ctx.Err()
}

// read finds the address in what the server prints, and goes on reading so that the server never waits for us.
func (s *server) read(output io.ReadCloser, found chan<- string) {
	defer close(s.drained)
	defer output.Close()
	var once sync.Once
	defer once.Do(func() { close(found) })
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if url := address.FindString(lines.Text()); url != "" {
			once.Do(func() { found <- url; close(found) })
		}
	}
}

func (s *server) stop() {
	_ = s.process.Process.Signal(syscall.SIGTERM)
	_ = s.process.Wait()
	<-s.drained
	_ = os.RemoveAll(s.data)
}

func (s *server) megabytes() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmRSS:" {
			kilobytes, _ := strconv.ParseFloat(fields[1], 64)
			return kilobytes / 1024
		}
	}
	return 0
}

// interpreters is what the server starts for each language.
func (s *server) interpreters(ctx context.Context) (map[string]string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/api/v1/capabilities", http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := send(request, token)
	if err != nil {
		return nil, err
	}
	var got struct {
		Languages []struct{ Language, Interpreter string }
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return nil, err
	}
	paths := map[string]string{}
	for _, language := range got.Languages {
		paths[language.Language] = language.Interpreter
	}
	return paths, nil
}

func (s *server) publish(ctx context.Context, a agent) error {
	schema := map[string]any{"type": "object", "required": []string{"a", "b"}, "properties": map[string]any{"a": map[string]any{"type": "integer"}, "b": map[string]any{"type": "integer"}}}
	result := map[string]any{"type": "object", "required": []string{"sum"}, "properties": map[string]any{"sum": map[string]any{"type": "integer"}}}
	draft, err := json.Marshal(map[string]any{
		"name": a.name, "language": a.language, "files": map[string]string{a.entrypoint: a.code}, "entrypoint": a.entrypoint,
		"inputSchema": schema, "outputSchema": result,
	})
	if err != nil {
		return err
	}
	if _, err := post(ctx, s.base+"/api/v1/code-agents", token, draft); err != nil {
		return err
	}
	_, err = post(ctx, s.base+"/api/v1/code-agents/"+a.name+"/versions", token, []byte(`{"version":"1.0.0","changelog":"bench"}`))
	return err
}

// call runs the published version with another input each time and checks the sum.
func (s *server) call(a agent) func(context.Context, int) error {
	url := s.base + "/api/v1/code-agents/" + a.name + "/execute"
	return func(ctx context.Context, n int) error {
		body := fmt.Appendf(nil, `{"version":"1.0.0","input":{"a":%d,"b":%d}}`, n, n%97)
		answer, err := post(ctx, url, token, body)
		if err != nil {
			return err
		}
		var got struct {
			Status string
			Output struct{ Sum int }
		}
		if err := json.Unmarshal(answer, &got); err != nil {
			return err
		}
		if got.Status != "succeeded" || got.Output.Sum != n+n%97 {
			return fmt.Errorf("%s answered %s", a.name, answer)
		}
		return nil
	}
}

// burst sends many runs in the same moment, one after another language.
func burst(ctx context.Context, runs int, s *server) sample {
	var (
		all  sample
		lock sync.Mutex
		wait sync.WaitGroup
	)
	start := time.Now()
	for n := range runs {
		call := s.call(agents[n%len(agents)])
		wait.Go(func() {
			began := time.Now()
			err := call(ctx, n)
			took := time.Since(began)
			lock.Lock()
			defer lock.Unlock()
			all.add(took, err)
		})
	}
	wait.Wait()
	all.span = time.Since(start)
	slices.Sort(all.times)
	return all
}

var client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

func post(ctx context.Context, url, token string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	return send(request, token)
}

func send(request *http.Request, token string) ([]byte, error) {
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s: %s", request.URL, response.Status, answer)
	}
	return answer, err
}

// Package bacalhautest simulates a Bacalhau network with one node for tests. It implements the part of Bacalhau's API that
// was recorded, and refuses fields that Bacalhau does not have. It runs WebAssembly modules with wazero. It ignores the
// image of a container and runs it as a process in namespaces of its own.
package bacalhautest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Key is the only key that the service accepts. A real node accepts none with fewer than 20 bytes.
const Key = "bacalhau-test-key-of-a-node"

// mostSent is the maximum size of a job that the orchestrator can send to the node, in bytes. A larger job stays
// pending.
const mostSent = 1 << 20

// nodeMemory is the memory of the node in bytes. A job that needs more waits until its timeout.
const nodeMemory = 4 << 30

// Service is a running simulation of Bacalhau.
type Service struct {
	Address
	// Broken is the error message with which every execution fails. If it is "", executions do not fail.
	Broken string
	// Idle makes all jobs stay pending, as if no node accepted them.
	Idle bool
	// Page is the maximum number of jobs in one page of a list. 0 means no limit.
	Page int

	base string

	mu     sync.Mutex
	before func(w http.ResponseWriter, r *http.Request) bool
	jobs   []*job
	hold   chan struct{} // while it is not nil and not closed, ended programs do not report their end
	busy   chan struct{} // while it is not nil and not closed, the node does not execute the jobs that it has accepted
	names  map[string]bool
	all    sync.WaitGroup
	tb     testing.TB
}

// spec is the specification of a job in Bacalhau's API.
type spec struct {
	Name, Namespace, Type string
	Priority, Count       int
	Labels, Meta          map[string]string
	Tasks                 []task
}

type typed struct {
	Type   string
	Params map[string]any
}

type task struct {
	Name              string
	Engine, Publisher typed
	Env               map[string]string
	InputSources      []struct {
		Target, Alias string
		Source        typed
	}
	ResultPaths []struct{ Name, Path string }
	Resources   resources
	Network     struct {
		Type    string
		Domains []string
	}
	Timeouts struct{ ExecutionTimeout, QueueTimeout, TotalTimeout int64 }
}

type resources struct{ CPU, Memory, Disk, GPU string }

// memory returns the memory limit in bytes, or 0 if there is none. It supports two of Bacalhau's units: bytes (b), and
// megabytes of 1,000,000 bytes (mb).
func (r resources) memory() int64 {
	text, factor := strings.TrimSuffix(r.Memory, "b"), int64(1)
	if number, ok := strings.CutSuffix(text, "m"); ok {
		text, factor = number, 1_000_000
	}
	n, _ := strconv.ParseInt(text, 10, 64) // n is 0 if the text is not a number
	return n * factor
}

// job is one job and its executions.
type job struct {
	id     string
	spec   spec
	inputs map[string][]byte
	ctx    context.Context
	stop   context.CancelFunc

	created time.Time

	mu       sync.Mutex
	changed  chan struct{}
	state    string
	message  string
	tries    []try
	lines    []line
	asked    bool // whether live output was requested
	stdout   bytes.Buffer
	stderr   bytes.Buffer
	exit     int
	archive  []byte
	firstOut string // the first write to stdout; Bacalhau's run output contains at most 2 KB of it
}

type try struct {
	state   int
	message string
}

type line struct {
	Type int
	Line string
}

// New starts a service.
func New(tb testing.TB) *Service {
	tb.Helper()
	if _, err := exec.LookPath("unshare"); err != nil {
		tb.Fatal("unshare of util-linux is needed to run containers")
	}
	s := &Service{tb: tb, names: map[string]bool{}}
	server := httptest.NewServer(s)
	s.base = server.URL
	u, err := url.Parse(server.URL)
	if err != nil {
		tb.Fatal(err)
	}
	s.Host, s.Port = u.Hostname(), u.Port()
	tb.Cleanup(func() {
		s.mu.Lock()
		for _, j := range s.jobs {
			j.stop()
		}
		s.mu.Unlock()
		s.all.Wait()
		server.Close()
	})
	return s
}

// AddEnded adds jobs of an owner that have ended, as if they were submitted now.
func (s *Service) AddEnded(owner string, count int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range count {
		j := &job{id: "j-" + strings.ToLower(rand.Text()), spec: spec{Name: rand.Text(), Labels: map[string]string{"atelier-owner": owner}}, stop: func() {}, state: "Completed", created: time.Now()}
		s.jobs = append(s.jobs, j)
	}
}

// GPUJobs returns the number of jobs that requested a GPU.
func (s *Service) GPUJobs() (jobs int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		if j.spec.Tasks[0].Resources.GPU == "1" {
			jobs++
		}
	}
	return jobs
}

// Running lists the names of the jobs that have not ended.
func (s *Service) Running() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		j.mu.Lock()
		if !ended(j.state) {
			names = append(names, j.spec.Name)
		}
		j.mu.Unlock()
	}
	return names
}

// Jobs returns the number of submitted jobs.
func (s *Service) Jobs() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.jobs)
}

// Networks returns the network of each job: its type, followed by its domains.
func (s *Service) Networks() (all [][]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		all = append(all, append([]string{j.spec.Tasks[0].Network.Type}, j.spec.Tasks[0].Network.Domains...))
	}
	return all
}

func ended(state string) bool {
	return slices.Contains([]string{"Completed", "Failed", "Stopped"}, state)
}

// Hold delays the end of all jobs until release is called. Jobs whose programs have ended are delayed too.
func (s *Service) Hold() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold = make(chan struct{})
	return sync.OnceFunc(func() { close(s.hold) })
}

// Occupy simulates a busy node: until release is called, the node accepts jobs but does not execute them.
func (s *Service) Occupy() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = make(chan struct{})
	return sync.OnceFunc(func() { close(s.busy) })
}

func (s *Service) wait(until *chan struct{}) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *until == nil {
		*until = make(chan struct{})
		close(*until)
	}
	return *until
}

// Intercept sets a function that is called first for every request. If it returns true, it has written the response.
func (s *Service) Intercept(before func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = before
}

// ServeHTTP implements http.Handler.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	before := s.before
	s.mu.Unlock()
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case before != nil && before(w, r):
	case len(parts) == 2 && parts[0] == "published":
		s.published(w, r, parts[1])
	case r.Header.Get("Authorization") != "Bearer "+Key:
		reply(w, http.StatusUnauthorized, map[string]any{"Status": 401, "Message": "authentication required"})
	case !strings.HasPrefix(r.URL.Path, "/api/v1/orchestrator/jobs"):
		reply(w, http.StatusNotFound, map[string]any{"Message": "no such route"})
	case len(parts) == 4 && r.Method == http.MethodPut:
		s.submit(w, r)
	case len(parts) == 4 && r.Method == http.MethodGet:
		s.list(w, r)
	case len(parts) >= 5:
		j := s.find(parts[4])
		if j == nil {
			reply(w, http.StatusNotFound, map[string]any{"Message": "job not found"})
			return
		}
		s.one(w, r, j, strings.Join(parts[5:], "/"))
	default:
		reply(w, http.StatusMethodNotAllowed, map[string]any{"Message": "no such method"})
	}
}

func (s *Service) one(w http.ResponseWriter, r *http.Request, j *job, what string) {
	switch {
	case what == "" && r.Method == http.MethodGet:
		reply(w, http.StatusOK, s.view(j, r.URL.Query().Get("include") == "executions"))
	case what == "" && r.Method == http.MethodDelete:
		j.mu.Lock()
		over := ended(j.state)
		if !over {
			var body struct{ Reason string }
			_ = json.NewDecoder(r.Body).Decode(&body) // the body is optional
			j.set("Stopped", body.Reason)
		}
		j.mu.Unlock()
		if over {
			reply(w, http.StatusInternalServerError, map[string]any{"Status": 500, "Message": "cannot stop job in state " + j.state})
			return
		}
		j.stop()
		reply(w, http.StatusOK, map[string]any{"EvaluationID": rand.Text()})
	case what == "results" && r.Method == http.MethodGet:
		items := []any{}
		if j.published() {
			items = append(items, s.located(j))
		}
		reply(w, http.StatusOK, map[string]any{"Items": items, "NextToken": ""})
	case what == "logs" && r.Method == http.MethodGet:
		j.logs(w, r)
	default:
		reply(w, http.StatusNotFound, map[string]any{"Message": "no such route"})
	}
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // after an error the client receives an incomplete response
}

func (s *Service) find(id string) *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		if j.id == id {
			return j
		}
	}
	return nil
}

func (s *Service) submit(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	var body struct {
		Job   spec
		Force bool
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err == nil {
		err = dec.Decode(&body)
	}
	var inputs map[string][]byte
	if err == nil {
		inputs, err = check(body.Job)
	}
	s.mu.Lock()
	if err == nil && s.names[body.Job.Name] {
		err = fmt.Errorf("the name %s is already used, so this would be a new version of that job", body.Job.Name)
	}
	if err != nil {
		s.mu.Unlock()
		reply(w, http.StatusBadRequest, map[string]any{"Message": err.Error()})
		return
	}
	j := &job{id: "j-" + strings.ToLower(rand.Text()), spec: body.Job, inputs: inputs, changed: make(chan struct{}), state: "Pending", created: time.Now()}
	j.ctx, j.stop = context.WithCancel(context.Background())
	s.names[body.Job.Name] = true
	s.jobs = append(s.jobs, j)
	s.mu.Unlock()
	if len(text) <= mostSent && !s.Idle && body.Job.Tasks[0].Resources.memory() <= nodeMemory {
		s.all.Go(func() { s.execute(j) })
	}
	reply(w, http.StatusOK, map[string]any{"JobID": j.id, "EvaluationID": rand.Text(), "Warnings": []string{}})
}

// check returns the files of a job's inputs, or an error if the node would reject the job.
func check(of spec) (map[string][]byte, error) {
	if of.Name == "" || of.Type != "batch" || of.Count != 1 || len(of.Tasks) != 1 {
		return nil, fmt.Errorf("a job needs a name, the type batch, a count of 1 and one task")
	}
	one := of.Tasks[0]
	if one.Engine.Type != "docker" && one.Engine.Type != "wasm" || one.Publisher.Type != "local" {
		return nil, fmt.Errorf("no node has the engine %s and the publisher %s", one.Engine.Type, one.Publisher.Type)
	}
	known := map[string][]string{"docker": {"Image", "Entrypoint", "Parameters", "EnvironmentVariables", "WorkingDirectory"}, "wasm": {"EntryModule", "Entrypoint", "Parameters", "ImportModules"}}
	for name := range one.Engine.Params {
		if !slices.Contains(known[one.Engine.Type], name) {
			return nil, fmt.Errorf("the engine %s has no parameter %s", one.Engine.Type, name)
		}
	}
	if one.Network.Type != "None" && one.Network.Type != "HTTP" || one.Network.Type == "None" && len(one.Network.Domains) > 0 {
		return nil, fmt.Errorf("a network of the type %s with %d domains", one.Network.Type, len(one.Network.Domains))
	}
	if one.Resources.memory() <= 0 || one.Resources.CPU == "" || one.Timeouts.ExecutionTimeout <= 0 {
		return nil, fmt.Errorf("resources or timeouts are missing")
	}
	files := map[string][]byte{}
	for _, source := range one.InputSources {
		address, _ := source.Source.Params["URL"].(string)
		data, err := fetch(source.Source.Type, address)
		if err != nil || !strings.HasPrefix(source.Target, "/inputs/") || strings.Contains(source.Target, "..") {
			return nil, fmt.Errorf("cannot use the input source of type %s with the target %s (targets must be in /inputs/): %w", source.Source.Type, source.Target, err)
		}
		name := strings.TrimPrefix(source.Target, "/inputs/")
		if source.Source.Type == "urlDownload" { // for a downloaded file, the target is the folder of the file
			u, err := url.Parse(address)
			if err != nil {
				return nil, err
			}
			name = path.Join(name, path.Base(u.Path))
		}
		if address, _, _ := strings.Cut(address, ";"); address != "data:application/gzip" {
			files[name] = data
		} else if err := unzip(data, name, files); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// unzip adds the files of a gzipped archive, which a node unpacks into a folder.
func unzip(archive []byte, folder string, files map[string][]byte) error {
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	folders := map[string]bool{".": true}
	packed := tar.NewReader(unzipped)
	for {
		entry, err := packed.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case !folders[path.Dir(path.Clean(entry.Name))]:
			return fmt.Errorf("the archive has no entry for the folder of %s", entry.Name)
		case entry.Typeflag == tar.TypeDir:
			folders[path.Clean(entry.Name)] = true
			continue
		}
		if files[path.Join(folder, entry.Name)], err = io.ReadAll(packed); err != nil {
			return err
		}
	}
}

// fetch returns the content of an input source. It decodes a data URL, or downloads a file as a node does.
func fetch(kind, address string) ([]byte, error) {
	switch kind {
	case "inline":
		_, encoded, ok := strings.Cut(address, ";base64,")
		if !ok || !strings.HasPrefix(address, "data:") {
			return nil, errors.New("no data URL")
		}
		return base64.StdEncoding.DecodeString(encoded)
	case "urlDownload":
		size, err := http.Head(address) //nolint:gosec,noctx // the address comes from the test
		if err != nil {
			return nil, err
		}
		if err := size.Body.Close(); err != nil || size.StatusCode != http.StatusOK || size.ContentLength < 0 {
			return nil, fmt.Errorf("HEAD: %s, %d bytes, %w", size.Status, size.ContentLength, err)
		}
		response, err := http.Get(address) //nolint:gosec,noctx // the address comes from the test
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return nil, errors.New(response.Status)
		}
		return io.ReadAll(response.Body)
	}
	return nil, errors.New("not an input source of this node")
}

func (s *Service) view(j *job, executions bool) map[string]any {
	j.mu.Lock()
	defer j.mu.Unlock()
	answer := map[string]any{"Job": j.summary()}
	if executions {
		items := []any{}
		for i, one := range j.tries {
			e := map[string]any{"ID": fmt.Sprintf("e-%s-%d", j.id, i), "NodeID": "n-1", "ComputeState": map[string]any{"StateType": one.state, "Message": one.message}}
			if one.state == 9 {
				e["PublishedResult"] = s.located(j)
				e["RunOutput"] = map[string]any{"Stdout": j.firstOut[:min(len(j.firstOut), 2048)], "StdoutTruncated": false, "stderr": "", "ExitCode": j.exit, "ErrorMsg": ""}
			}
			items = append(items, e)
		}
		answer["Executions"] = map[string]any{"Items": items}
	}
	return answer
}

func (j *job) summary() map[string]any {
	return map[string]any{
		"ID": j.id, "Name": j.spec.Name, "Labels": j.spec.Labels, "Type": "batch", "Tasks": j.spec.Tasks, "CreateTime": j.created.UnixNano(),
		"State": map[string]any{"StateType": j.state, "Message": j.message},
	}
}

// list lists jobs in the order of their creation, with their inputs. The token of a page is the number of its first
// job.
func (s *Service) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	name, value, _ := strings.Cut(query.Get("labels"), "=")
	s.mu.Lock()
	jobs := slices.Clone(s.jobs)
	s.mu.Unlock()
	jobs = slices.DeleteFunc(jobs, func(j *job) bool { return name != "" && j.spec.Labels[name] != value })
	if query.Get("reverse") == "true" {
		slices.Reverse(jobs)
	}
	from, _ := strconv.Atoi(query.Get("next_token")) // 0 if the parameter is missing
	limit, next := len(jobs), ""
	page, _ := strconv.Atoi(query.Get("limit")) // 0 if the parameter is missing
	if s.Page != 0 {
		page = min(page, s.Page)
	}
	if page > 0 && from+page < limit {
		limit, next = from+page, strconv.Itoa(from+page)
	}
	items := []any{}
	for _, j := range jobs[from:limit] {
		j.mu.Lock()
		items = append(items, j.summary())
		j.mu.Unlock()
	}
	reply(w, http.StatusOK, map[string]any{"NextToken": next, "Items": items})
}

func (s *Service) located(j *job) map[string]any {
	return map[string]any{"Type": "urlDownload", "Params": map[string]any{"URL": s.base + "/published/" + j.id}}
}

func (s *Service) published(w http.ResponseWriter, r *http.Request, id string) {
	j := s.find(id)
	if j == nil || !j.published() || r.Header.Get("Authorization") != "" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_, _ = w.Write(j.archive) // after an error the client receives an incomplete response
}

func (j *job) published() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state == "Completed"
}

// set changes the state of a job and notifies its waiters. The caller must hold j.mu.
func (j *job) set(state, message string) {
	j.state, j.message = state, message
	close(j.changed)
	j.changed = make(chan struct{})
}

// execute runs a job as Bacalhau does. If an execution fails, the node tries it once more. If that fails too, the job
// fails, because there is no other node.
func (s *Service) execute(j *job) {
	defer j.stop()
	for range 2 {
		if !s.attempt(j) {
			return
		}
	}
	const none = "not enough nodes to run job. requested: 1, available: 1, suitable: 0.\n• Node n-1: job already executed on this node more than once"
	j.change("Queued", "Job queued. "+none)
	select {
	case <-j.ctx.Done():
	case <-time.After(time.Until(j.created.Add(time.Duration(j.spec.Tasks[0].Timeouts.QueueTimeout) * time.Second))):
		j.change("Failed", none)
	}
}

// change changes the state of a job unless the job was stopped.
func (j *job) change(state, message string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state == "Stopped" {
		return false
	}
	j.set(state, message)
	return true
}

// attempt executes a job once. It reports whether the execution failed.
func (s *Service) attempt(j *job) (failed bool) {
	j.mu.Lock()
	// 5 (bidAccepted) also while the program runs, because nodes do not report 6 (running).
	j.tries = append(j.tries, try{5, "Running"})
	j.lines = nil
	j.stdout.Reset()
	j.stderr.Reset()
	j.mu.Unlock()
	if !j.change("Running", "") {
		return false
	}
	select {
	case <-s.wait(&s.busy):
	case <-j.ctx.Done():
	}
	during := time.Duration(j.spec.Tasks[0].Timeouts.ExecutionTimeout) * time.Second
	limit, stop := context.WithTimeout(j.ctx, during)
	defer stop()
	outputs, code, err := map[string][]byte(nil), 0, error(nil)
	if s.Broken != "" {
		err = errors.New(s.Broken)
	} else {
		outputs, code, err = j.perform(limit)
	}
	select {
	case <-s.wait(&s.hold):
	case <-limit.Done():
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state == "Stopped" {
		return false
	}
	if limit.Err() != nil {
		err = fmt.Errorf("Execution timed out after %s", during) //nolint:staticcheck // the text of Bacalhau
	}
	if err != nil {
		j.tries[len(j.tries)-1] = try{10, err.Error()}
		return true
	}
	j.exit, j.archive = code, pack(j.stdout.Bytes(), j.stderr.Bytes(), code, outputs)
	j.tries[len(j.tries)-1] = try{9, ""}
	j.set("Completed", "")
	return false
}

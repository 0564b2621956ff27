package bacalhautest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Program is the environment variable with the path of the bacalhau program that NewNetwork starts.
const Program = "ATELIER_TEST_BACALHAU"

// Interpreter is the environment variable with the path of a Python interpreter that is a WebAssembly module.
const Interpreter = "ATELIER_TEST_PYTHON_WASM"

// PythonModule serves that interpreter and returns its URL, or "" if there is none.
func PythonModule(tb testing.TB) string {
	tb.Helper()
	file := os.Getenv(Interpreter)
	if file == "" {
		return ""
	}
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(file))))
	tb.Cleanup(server.Close)
	return server.URL + "/" + filepath.Base(file)
}

// Address is the address of an orchestrator.
type Address struct{ Host, Port string }

// Network is a Bacalhau network with one node that runs WebAssembly modules only.
type Network struct {
	Address

	service *Service // nil for a real node
	tb      testing.TB
}

// capacity is the number of jobs that a real node executes at a time.
const capacity = 8

// NewNetwork starts a real node of the program that the variable Program names. Without the variable it starts a Service.
func NewNetwork(tb testing.TB) *Network {
	tb.Helper()
	program := os.Getenv(Program)
	if program == "" {
		tb.Logf("no real Bacalhau node: set %s; the test service speaks its protocol", Program)
		s := New(tb)
		return &Network{Address: s.Address, service: s, tb: tb}
	}
	ports := freePorts(tb, 3)
	n := &Network{Address: Address{Host: "127.0.0.1", Port: ports[0]}, tb: tb}
	n.start(program, map[string]any{
		"NameProvider": "puuid", "DisableAnalytics": true, "UpdateConfig": map[string]any{"Interval": "0"}, "WebUI": map[string]any{"Enabled": false},
		"API": map[string]any{"Host": n.Host, "Port": json.Number(n.Port), "Auth": map[string]any{"Users": []any{
			map[string]any{"Alias": "test", "APIKey": Key, "Capabilities": []any{map[string]any{"Actions": []string{"*"}}}},
		}}},
		"Orchestrator": map[string]any{"Enabled": true, "Host": n.Host, "Port": json.Number(ports[1])},
		"Compute": map[string]any{
			"Enabled": true, "Orchestrators": []string{"nats://" + net.JoinHostPort(n.Host, ports[1])},
			"AllocatedCapacity": map[string]string{"CPU": strconv.Itoa(capacity), "Memory": "4Gi", "Disk": "4Gi"},
		},
		"Engines":    map[string]any{"Disabled": []string{"docker"}},
		"Publishers": map[string]any{"Types": map[string]any{"Local": map[string]any{"Address": n.Host, "Port": json.Number(ports[2])}}},
	})
	return n
}

// freePorts returns ports of the loopback interface that were free a moment ago.
func freePorts(tb testing.TB, count int) (ports []string) {
	tb.Helper()
	for range count {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			tb.Fatal(err)
		}
		defer listener.Close()
		_, port, _ := net.SplitHostPort(listener.Addr().String()) // it is valid
		ports = append(ports, port)
	}
	return ports
}

// start starts a node with a configuration and waits until it accepts jobs.
func (n *Network) start(program string, config map[string]any) {
	n.tb.Helper()
	dir := n.tb.TempDir()
	text, err := json.Marshal(config) // JSON is YAML, too
	if err != nil {
		n.tb.Fatal(err)
	}
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		n.tb.Fatal(err)
	}
	var log bytes.Buffer
	cmd := exec.Command(program, "serve", "--config", file, "--data-dir", filepath.Join(dir, "data"))
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, []string{"HOME=" + dir, "TMPDIR=" + dir, "PATH=/usr/bin:/bin"}, &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		n.tb.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // it is stopped by a signal
	}()
	n.tb.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // may have ended
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
		}
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // may have ended
		<-ended
		if n.tb.Failed() {
			n.tb.Logf("the node's log:\n%s", log.Bytes()[max(0, log.Len()-8<<10):])
		}
	})
	for deadline := time.Now().Add(time.Minute); ; {
		var nodes struct {
			Nodes []struct{ ConnectionState struct{ Status string } }
		}
		err := n.request(http.MethodGet, "/orchestrator/nodes", nil, &nodes)
		if err == nil && len(nodes.Nodes) == 1 && nodes.Nodes[0].ConnectionState.Status == "CONNECTED" {
			return
		}
		select {
		case <-ended:
			n.tb.Fatalf("the node did not start:\n%s", log.Bytes())
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			n.tb.Fatalf("the node is not ready after a minute: %v, %+v", err, nodes)
		}
	}
}

// request sends a request to the API of the network.
func (n *Network) request(method, path string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(n.tb.Context()), 10*time.Second)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+net.JoinHostPort(n.Host, n.Port)+"/api/v1"+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+Key)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, path, answer.Status)
	}
	return json.NewDecoder(answer.Body).Decode(into)
}

// each calls do for each job of the network, except for that of Occupy.
func (n *Network) each(do func(name, state string, of task)) {
	for query := "limit=100"; query != ""; {
		var list struct {
			NextToken string
			Items     []struct {
				Name  string
				State struct{ StateType string }
				Tasks []task
			}
		}
		if err := n.request(http.MethodGet, "/orchestrator/jobs?"+query, nil, &list); err != nil {
			n.tb.Error(err)
		}
		for _, one := range list.Items {
			if one.Name != occupying {
				do(one.Name, one.State.StateType, one.Tasks[0])
			}
		}
		if query = ""; list.NextToken != "" {
			query = "limit=100&next_token=" + url.QueryEscape(list.NextToken)
		}
	}
}

// Running lists the names of the jobs that have not ended.
func (n *Network) Running() (names []string) {
	n.each(func(name, state string, _ task) {
		if !ended(state) {
			names = append(names, name)
		}
	})
	return names
}

// Jobs returns the number of submitted jobs.
func (n *Network) Jobs() (jobs int) {
	n.each(func(string, string, task) { jobs++ })
	return jobs
}

// Networks returns the network of each job: its type, followed by its domains.
func (n *Network) Networks() (all [][]string) {
	n.each(func(_, _ string, of task) {
		all = append(all, append([]string{of.Network.Type}, of.Network.Domains...))
	})
	return all
}

// SetPage limits the jobs of a page of a list. A real node has no such limit.
func (n *Network) SetPage(jobs int) {
	if n.service != nil {
		n.service.Page = jobs
	}
}

// occupying is the name of the job with which Occupy keeps a real node busy.
const occupying = "occupying"

// Idle is a WebAssembly module that never ends and sleeps 20 milliseconds at a time.
const Idle = "\x00asm\x01\x00\x00\x00" +
	"\x01\x0c\x02\x60\x04\x7f\x7f\x7f\x7f\x01\x7f\x60\x00\x00" + "\x02\x26\x01\x16wasi_snapshot_preview1\x0bpoll_oneoff\x00\x00" +
	"\x03\x02\x01\x01" + "\x05\x03\x01\x00\x01" + "\x07\x13\x02\x06memory\x02\x00\x06_start\x00\x01" +
	"\x0a\x16\x01\x14\x00\x03\x40\x41\x00\x41\xc0\x00\x41\x01\x41\xe0\x00\x10\x00\x1a\x0c\x00\x0b\x0b" + // loop: poll_oneoff(0, 64, 1, 96)
	"\x0b\x12\x01\x00\x41\x10\x0b\x0c\x01\x00\x00\x00\x00\x00\x00\x00\x00\x2d\x31\x01" + // monotonic clock, in 20,000,000 ns
	"\x00\x09\x04name\x00\x02\x01m"

// Module returns a WebAssembly module without a name section. The module prints a text of less than 100 bytes and then
// executes the instructions in then.
func Module(text string, then ...byte) []byte {
	part := func(id byte, body ...byte) []byte { return append([]byte{id, byte(len(body))}, body...) }
	name := func(s string) []byte { return append([]byte{byte(len(s))}, s...) }
	wasi := slices.Concat([]byte{1}, name("wasi_snapshot_preview1"), name("fd_write"), []byte{0, 0})
	exports := slices.Concat([]byte{2}, name("memory"), []byte{2, 0}, name("_start"), []byte{0, 1})
	code := []byte{0, 0x41, 1, 0x41, 0, 0x41, 1, 0x41, 12, 0x10, 0, 0x1a} // fd_write(1, 0, 1, 12)
	code = append(append(code, then...), 0x0b)
	data := slices.Concat([]byte{0x10, 0, 0, 0, byte(len(text)), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, []byte(text))
	return slices.Concat([]byte("\x00asm\x01\x00\x00\x00"),
		part(1, 2, 0x60, 4, 0x7f, 0x7f, 0x7f, 0x7f, 1, 0x7f, 0x60, 0, 0), part(2, wasi...), part(3, 1, 1), part(5, 1, 0, 1), part(7, exports...),
		part(10, append([]byte{1, byte(len(code))}, code...)...), part(11, append([]byte{1, 0, 0x41, 0, 0x0b, byte(len(data))}, data...)...))
}

// Occupy lets the node execute no further job, although it accepts them, until release is called. running is the number of
// jobs that the node executes now.
func (n *Network) Occupy(running int) (release func()) {
	n.tb.Helper()
	if n.service != nil {
		return n.service.Occupy()
	}
	const target = "/inputs/main.wasm"
	var made struct{ JobID string }
	if err := n.request(http.MethodPut, "/orchestrator/jobs", map[string]any{"Job": map[string]any{
		"Name": occupying, "Type": "batch", "Count": 1, "Tasks": []any{map[string]any{
			"Name": "main", "Resources": map[string]string{"CPU": strconv.Itoa(capacity - running), "Memory": "64mb"},
			"Engine": map[string]any{"Type": "wasm", "Params": map[string]any{"EntryModule": target, "Entrypoint": "_start"}},
			"InputSources": []any{map[string]any{"Target": target, "Source": map[string]any{
				"Type": "inline", "Params": map[string]string{"URL": "data:application/octet-stream;base64," + base64.StdEncoding.EncodeToString([]byte(Idle))},
			}}},
		}},
	}}, &made); err != nil {
		n.tb.Fatal(err)
	}
	for begun := false; !begun; time.Sleep(20 * time.Millisecond) { // the node works
		var job struct {
			Executions struct {
				Items []struct{ ComputeState struct{ StateType int } }
			}
		}
		if err := n.request(http.MethodGet, "/orchestrator/jobs/"+made.JobID+"?include=executions", nil, &job); err != nil {
			n.tb.Fatal(err)
		}
		for _, one := range job.Executions.Items {
			begun = begun || one.ComputeState.StateType == 5
		}
	}
	return sync.OnceFunc(func() {
		var stopped struct{ EvaluationID string }
		if err := n.request(http.MethodDelete, "/orchestrator/jobs/"+made.JobID, map[string]string{"reason": "released"}, &stopped); err != nil {
			n.tb.Error(err)
		}
	})
}

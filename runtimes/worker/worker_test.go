package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// stage is a simulated jail whose worker is a function of the test.
type stage struct {
	server, client net.Conn
	done           chan struct{}
	kill           func()
	network        net.Listener

	mu    sync.Mutex
	usage sandbox.Usage
	exit  sandbox.Exit
	kills int
}

// newStage returns a stage whose worker runs the function play, until it returns or is killed.
func newStage(t testing.TB, play func(*actor)) *stage {
	t.Helper()
	server, client := net.Pipe()
	return newStageOver(t, server, client, play)
}

// newStageOver is like newStage, but uses the given connection.
func newStageOver(t testing.TB, server, client net.Conn, play func(*actor)) *stage {
	t.Helper()
	s := &stage{server: server, client: client, done: make(chan struct{})}
	s.kill = sync.OnceFunc(func() {
		_ = client.Close()
		close(s.done)
	})
	var joined sync.WaitGroup
	joined.Go(func() {
		defer s.kill()
		play(&actor{stage: s, in: frames.NewReader(client, map[frames.Kind]int{frames.Job: 1 << 20, frames.Reply: 1 << 20, frames.Interrupt: 1 << 10}), out: frames.NewWriter(client)})
	})
	t.Cleanup(func() {
		s.kill()
		joined.Wait()
	})
	return s
}

func (s *stage) Conn() net.Conn              { return s.server }
func (s *stage) Limit(runtimes.Limits) error { return nil }
func (s *stage) ResetPeak()                  {}
func (s *stage) Done() <-chan struct{}       { return s.done }
func (s *stage) Network() net.Listener       { return s.network }
func (s *stage) CPU() time.Duration          { return s.Usage().CPU }

func (s *stage) Usage() sandbox.Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.usage
}

func (s *stage) Kill() {
	s.mu.Lock()
	s.kills++
	s.mu.Unlock()
	s.kill()
}

func (s *stage) Wait() sandbox.Exit {
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exit.Usage = s.usage
	return s.exit
}

// set changes the simulated usage and exit of the jail.
func (s *stage) set(change func(*sandbox.Usage, *sandbox.Exit)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.usage, &s.exit)
}

// actor implements the worker's side of the protocol. It ignores errors, because the worker may be killed at any time.
type actor struct {
	*stage
	in  *frames.Reader
	out *frames.Writer
}

func (a *actor) read() (frames.Kind, string) {
	kind, payload, err := a.in.Read()
	if err != nil {
		return 0, ""
	}
	return kind, string(payload)
}

func (a *actor) send(kind frames.Kind, payload string) { _ = a.out.Write(kind, []byte(payload)) }

// begin reads the job and reports that the program has started.
func (a *actor) begin() {
	a.read()
	a.send(frames.Started, "")
}

// stuck waits until the worker is killed.
func (a *actor) stuck() { <-a.done }

// audience is a host that records events.
type audience struct {
	mu     sync.Mutex
	events []runtimes.Event
	seen   chan struct{}
	answer func(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error)
}

func newAudience() *audience { return &audience{seen: make(chan struct{}, 1<<16)} }

func (h *audience) Emit(e runtimes.Event) {
	h.mu.Lock()
	h.events = append(h.events, e)
	h.mu.Unlock()
	h.seen <- struct{}{}
}

func (h *audience) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	if h.answer != nil {
		return h.answer(ctx, name, args)
	}
	h.Emit(runtimes.Event{Kind: runtimes.Kind(name), Data: bytes.Clone(args)})
	return nil, nil
}

// transcript returns all events as text. Consecutive events of the same kind are joined.
func (h *audience) transcript(t testing.TB) string {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	var b strings.Builder
	var last runtimes.Kind
	for _, e := range h.events {
		text := string(e.Data)
		if e.Kind == runtimes.KindStdout || e.Kind == runtimes.KindStderr {
			if err := json.Unmarshal(e.Data, &text); err != nil {
				t.Fatal(err)
			}
			if len(text) > runtimes.MaxChunk {
				t.Errorf("a chunk of %d bytes", len(text))
			}
			if e.Kind == last {
				b.WriteString(text)
				continue
			}
		}
		last = e.Kind
		fmt.Fprintf(&b, "|%s:%s", e.Kind, text)
	}
	return b.String()
}

func limits() runtimes.Limits {
	l := runtimes.DefaultLimits()
	l.OutputBytes = 1000
	return l
}

func job() runtimes.Job {
	return runtimes.Job{Limits: limits(), Workspace: "w", Files: map[string][]byte{"main.x": nil}, Entrypoint: "main.x"}
}

func TestRunOutcomes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		play   func(*actor)
		task   func(*worker.Task)
		want   runtimes.ErrorType // "" for success
		says   string             // part of the message
		output string
		events string
	}{
		"returns a value": {
			play:   func(a *actor) { a.begin(); a.send(frames.Done, `{"output":{"n": 12345678901234567890}}`) },
			output: `{"n":12345678901234567890}`,
		},
		"returns nothing": {
			play:   func(a *actor) { a.begin(); a.send(frames.Done, `{}`) },
			output: `null`,
		},
		"prints and logs in order": {
			play: func(a *actor) {
				a.begin()
				a.send(frames.Stdout, "one\n")
				a.send(frames.CallReq, `{"id":1,"name":"log","args":{"message":"two"}}`)
				a.read()
				a.send(frames.Stdout, "three")
				a.send(frames.Stderr, "four")
				a.send(frames.Stdout, "five")
				a.send(frames.Done, `{}`)
			},
			output: `null`,
			events: "|stdout:one\n|log:{\"message\":\"two\"}|stdout:three|stderr:four|stdout:five",
		},
		"characters arrive in pieces": {
			play: func(a *actor) {
				a.begin()
				for _, b := range []byte("grüß 🎉\xff!") {
					a.send(frames.Stdout, string([]byte{b}))
					a.send(frames.Stderr, "e")
				}
				a.send(frames.Stdout, "\xf0\x9f")
				a.send(frames.Done, `{}`)
			},
			output: `null`,
			events: "|stdout:g|stderr:e|stdout:r|stderr:ee|stdout:ü|stderr:ee|stdout:ß|stderr:e|stdout: |stderr:eeee|stdout:🎉|stderr:e|stdout:\uFFFD|stderr:e|stdout:!|stderr:e|stdout:\uFFFD",
		},
		"last words of one that dies": {
			play: func(a *actor) {
				a.begin()
				a.send(frames.Stderr, "mine\n<--gave up")
				a.send(frames.Stderr, " because")
				a.send(frames.Done, `{"signal":6}`)
			},
			task:   func(t *worker.Task) { t.LastStderr = "<--gave up" },
			want:   runtimes.RuntimeError,
			events: "|stderr:mine\n",
		},
		"last words of one that lives": {
			play: func(a *actor) {
				a.begin()
				a.send(frames.Stderr, "mine\n<--gave up")
				a.send(frames.Stderr, " because")
				a.send(frames.Done, `{}`)
			},
			task:   func(t *worker.Task) { t.LastStderr = "<--gave up" },
			output: `null`,
			events: "|stderr:mine\n<--gave up because",
		},
		"too many last words": {
			play: func(a *actor) {
				a.begin()
				a.send(frames.Stderr, "<--gave up"+strings.Repeat(".", 40_000))
				a.send(frames.Done, `{"signal":6}`)
			},
			task:   func(t *worker.Task) { t.LastStderr, t.Job.Limits.OutputBytes = "<--gave up", 100_000 },
			want:   runtimes.RuntimeError,
			events: "|stderr:<--gave up" + strings.Repeat(".", 40_000),
		},
		"prints too much": {
			play: func(a *actor) {
				a.begin()
				a.send(frames.Stdout, strings.Repeat("x", 999))
				a.send(frames.Stderr, "yz")
				a.send(frames.Stderr, "and more")
				a.stuck()
			},
			want: runtimes.OutputLimit, says: "1000",
			events: "|stdout:" + strings.Repeat("x", 999) + "|stderr:y|dropped:{\"bytes\":1}",
		},
		"returns too much": {
			play: func(a *actor) { a.begin(); a.send(frames.Done, `{"output":"`+strings.Repeat("x", 1000)+`"}`) },
			want: runtimes.OutputLimit, says: "result",
		},
		"announces far too much": {
			play: func(a *actor) { a.begin(); _, _ = a.client.Write([]byte("d\xff\xff\xff\xff")); a.stuck() },
			want: runtimes.OutputLimit, says: "result",
		},
		"claims a limit by name": {
			play: func(a *actor) { a.begin(); a.send(frames.Done, `{"error":{"type":"recursion_limit"}}`) },
			want: runtimes.RecursionLimit, says: "1000 nested calls",
		},
		"claims what only we know": {
			play: func(a *actor) { a.begin(); a.send(frames.Done, `{"error":{"type":"interrupted","message":"ha"}}`) },
			want: runtimes.RuntimeError, says: "ha",
		},
		"result has a key twice": {
			play: func(a *actor) { a.begin(); a.send(frames.Done, `{"output":{"a":[0,{"b":1,"\u0062":2}]}}`) },
			want: runtimes.InvalidOutput, says: "output.a[1].b",
		},
		"result is half a character": {
			play: func(a *actor) { a.begin(); a.send(frames.Done, `{"output":{"a b":"\ud83d\u0041"}}`) },
			want: runtimes.InvalidOutput, says: `output["a b"]`,
		},
		"result is too deep": {
			play: func(a *actor) {
				a.begin()
				a.send(frames.Done, `{"output":`+strings.Repeat("[", 400)+strings.Repeat("]", 400)+`}`)
			},
			want: runtimes.InvalidOutput, says: "256",
		},
		"done is not JSON": {
			play: func(a *actor) { a.begin(); a.send(frames.Done, `{"output":`) },
			want: runtimes.RuntimeError, says: "protocol",
		},
		"speaks out of turn": {
			play: func(a *actor) { a.begin(); a.send(frames.Started, ""); a.stuck() },
			want: runtimes.RuntimeError, says: "protocol",
		},
		"counts its calls wrong": {
			play: func(a *actor) { a.begin(); a.send(frames.CallReq, `{"id":7,"name":"log"}`); a.stuck() },
			want: runtimes.RuntimeError, says: "protocol",
		},
		"dies": {
			play: func(a *actor) { a.begin(); a.send(frames.Stdout, "last words") },
			want: runtimes.RuntimeError, says: "unexpectedly",
			events: "|stdout:last words",
		},
		"dies of the memory limit": {
			play: func(a *actor) {
				a.begin()
				a.set(func(u *sandbox.Usage, e *sandbox.Exit) { u.OOMKilled = true; e.Signal = 9 })
			},
			want: runtimes.MemoryLimit, says: "limit of 256 MiB.",
		},
		"dies of a stack overflow": {
			play: func(a *actor) {
				a.begin()
				a.set(func(_ *sandbox.Usage, e *sandbox.Exit) {
					e.Code, e.Stderr = 2, "runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow\n"
				})
			},
			want: runtimes.RecursionLimit, says: "deeply",
		},
		"fails after a fork was refused": {
			play: func(a *actor) {
				a.begin()
				a.set(func(u *sandbox.Usage, _ *sandbox.Exit) { u.PidsLimited = true })
				a.send(frames.Done, `{"error":{"type":"runtime_error","message":"fork","file":"main.x","line":3}}`)
			},
			want: runtimes.ProcessLimit, says: "64",
		},
		"succeeds although a fork was refused": {
			play: func(a *actor) {
				a.begin()
				a.set(func(u *sandbox.Usage, _ *sandbox.Exit) { u.PidsLimited = true })
				a.send(frames.Done, `{"output":1}`)
			},
			output: `1`,
		},
		"succeeds without knowing that a fork was refused": {
			play: func(a *actor) {
				a.begin()
				a.set(func(u *sandbox.Usage, _ *sandbox.Exit) { u.PidsLimited = true })
				a.send(frames.Done, `{"output":1}`)
			},
			task: func(task *worker.Task) { task.Unaware = true },
			want: runtimes.ProcessLimit, says: "64",
		},
		"fills the disk": {
			play: func(a *actor) {
				a.begin()
				a.send(frames.Done, `{"diskFull":true,"error":{"type":"runtime_error","message":"no space"}}`)
			},
			want: runtimes.DiskLimit, says: "of 64 MiB.",
		},
		"points at a foreign file": {
			play: func(a *actor) {
				a.begin()
				a.send(frames.Done, `{"error":{"type":"runtime_error","message":"x","file":"/etc/passwd","line":3}}`)
			},
			want: runtimes.RuntimeError, says: "x",
		},
		"never ends": {
			play: func(a *actor) { a.begin(); a.stuck() },
			task: func(task *worker.Task) { task.Job.Limits.TimeoutMs = 20 },
			want: runtimes.Timeout, says: "20 ms",
		},
		"ends when asked": {
			play: func(a *actor) {
				a.begin()
				kind, payload := a.read()
				a.send(frames.Done, fmt.Sprintf(`{"error":{"type":"timeout","message":%q,"file":"main.x","line":4}}`, string(rune(kind))+payload))
			},
			task: func(task *worker.Task) { task.Job.Limits.TimeoutMs = 20; task.Grace = time.Minute },
			want: runtimes.Timeout, says: "20 ms",
		},
		"does not read while asked to end": {
			play: func(a *actor) { a.begin(); a.stuck() },
			task: func(task *worker.Task) { task.Job.Limits.TimeoutMs = 20; task.Grace = 30 * time.Millisecond },
			want: runtimes.Timeout, says: "20 ms",
		},
		"burns time": {
			play: func(a *actor) {
				a.begin()
				a.set(func(u *sandbox.Usage, _ *sandbox.Exit) { u.CPU = time.Hour })
				a.stuck()
			},
			want: runtimes.Timeout, says: "CPU",
		},
		"forks until its time is over": {
			play: func(a *actor) {
				a.begin()
				a.set(func(u *sandbox.Usage, _ *sandbox.Exit) { u.PidsLimited = true })
				a.stuck()
			},
			task: func(task *worker.Task) { task.Job.Limits.TimeoutMs = 20 },
			want: runtimes.ProcessLimit, says: "64",
		},
		"engine reads the result": {
			play: func(a *actor) { a.begin(); a.send(frames.Done, `{"exitCode":3}`) },
			task: func(task *worker.Task) {
				task.Interpret = func(r frames.Result) frames.Result {
					r.Error = &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: fmt.Sprintf("exit code %d", *r.ExitCode)}
					return r
				}
			},
			want: runtimes.RuntimeError, says: "exit code 3",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := newAudience()
			task := worker.Task{Job: job(), Payload: struct{}{}}
			if tt.task != nil {
				tt.task(&task)
			}
			outcome, err := worker.Run(t.Context(), newStage(t, tt.play), task, host)
			if err != nil {
				t.Fatal(err)
			}
			if got := host.transcript(t); tt.events != "" && got != tt.events {
				t.Errorf("events\n%q, want\n%q", got, tt.events)
			}
			if tt.want == "" {
				if outcome.Error != nil || string(outcome.Output) != tt.output {
					t.Errorf("outcome %s %+v, want %s", outcome.Output, outcome.Error, tt.output)
				}
				return
			}
			if outcome.Error == nil || outcome.Error.Type != tt.want || !strings.Contains(outcome.Error.Message, tt.says) {
				t.Fatalf("error %+v, want %s with %q", outcome.Error, tt.want, tt.says)
			}
			if outcome.Output != nil || outcome.Error.File == "/etc/passwd" {
				t.Errorf("outcome %+v", outcome)
			}
			if strings.HasSuffix(string(tt.want), "_limit") && outcome.Error.Remedy == "" {
				t.Error("a limit without a remedy")
			}
		})
	}
}

func TestPositionSurvivesATimeout(t *testing.T) {
	t.Parallel()
	task := worker.Task{Job: job(), Grace: time.Minute}
	task.Job.Limits.TimeoutMs = 20
	outcome, err := worker.Run(t.Context(), newStage(t, func(a *actor) {
		a.begin()
		a.read()
		a.send(frames.Done, `{"error":{"type":"timeout","file":"main.x","line":4,"column":2}}`)
	}), task, newAudience())
	if err != nil || outcome.Error.Line != 4 || outcome.Error.Column != 2 || outcome.Error.File != "main.x" {
		t.Fatalf("%+v, %v", outcome.Error, err)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	for _, grace := range []time.Duration{0, time.Minute} {
		ctx, cancel := context.WithCancel(t.Context())
		host := newAudience()
		jail := newStage(t, func(a *actor) {
			a.begin()
			a.send(frames.Stdout, "started\n")
			a.read()
			a.send(frames.Done, `{"output":1}`)
		})
		go func() {
			<-host.seen
			cancel()
		}()
		outcome, err := worker.Run(ctx, jail, worker.Task{Job: job(), Grace: grace}, host)
		if err != nil || outcome.Error == nil || outcome.Error.Type != runtimes.Cancelled {
			t.Fatalf("grace %v: %+v, %v", grace, outcome, err)
		}
		if got := host.transcript(t); got != "|stdout:started\n" {
			t.Errorf("events %q", got)
		}
	}
}

// TestCancelReachesCalls checks that a waiting host function does not keep a run alive.
func TestCancelReachesCalls(t *testing.T) {
	t.Parallel()
	host := newAudience()
	host.answer = func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	task := worker.Task{Job: job()}
	task.Job.Limits.TimeoutMs = 20
	outcome, err := worker.Run(t.Context(), newStage(t, func(a *actor) {
		a.begin()
		a.send(frames.CallReq, `{"id":1,"name":"slow","args":{}}`)
		a.stuck()
	}), task, host)
	if err != nil || outcome.Error == nil || outcome.Error.Type != runtimes.Timeout || outcome.CallErr != nil {
		t.Fatalf("%+v, %v", outcome, err)
	}
}

func TestCallAnswers(t *testing.T) {
	t.Parallel()
	host := newAudience()
	host.answer = func(_ context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
		switch name {
		case "echo":
			return bytes.Clone(args), nil
		case "deny":
			return nil, &runtimes.CallError{Code: "denied", Message: "no"}
		case "break":
			return nil, errors.New("the disk of the house")
		default:
			return nil, nil
		}
	}
	var replies []string
	outcome, err := worker.Run(t.Context(), newStage(t, func(a *actor) {
		a.begin()
		for i, name := range []string{"echo", "deny", "break", "void", strings.Repeat("n", 65)} {
			a.send(frames.CallReq, fmt.Sprintf(`{"id":%d,"name":%q,"args":["<&>"]}`, i+1, name))
			_, reply := a.read()
			replies = append(replies, reply)
		}
		a.send(frames.Done, `{}`)
	}), worker.Task{Job: job()}, host)
	if err != nil {
		t.Fatal(err)
	}
	if outcome.CallErr == nil || outcome.CallErr.Error() != "the disk of the house" {
		t.Errorf("for the log: %v", outcome.CallErr)
	}
	want := []string{
		`{"id":1,"result":["<&>"]}`,
		`{"id":2,"error":{"code":"denied","message":"no"}}`,
		`{"id":3,"error":{"code":"failed","message":"The host function \"break\" failed."}}`,
		`{"id":4,"result":null}`,
		`{"id":5,"error":{"code":"invalid_arguments","message":"A host function's name must have 1 to 64 bytes."}}`,
	}
	for i := range want {
		if i >= len(replies) || replies[i] != want[i] {
			t.Errorf("reply %d: %q, want %q", i, replies, want[i])
		}
	}
}

// TestACallThatPanics checks that a panic in a host call fails only that run, as a server error.
func TestACallThatPanics(t *testing.T) {
	t.Parallel()
	host := newAudience()
	host.answer = func(_ context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
		if name == "index" {
			return args[len(args) : len(args)+1 : 1], nil
		}
		panic("what the program said")
	}
	for name, after := range map[string]func(*actor){
		"and is waited for":   func(a *actor) { a.send(frames.CallReq, `{"id":1,"name":"slow"}`); a.stuck() },
		"of Go's own":         func(a *actor) { a.send(frames.CallReq, `{"id":1,"name":"index"}`); a.stuck() },
		"of those in passing": func(a *actor) { a.send(frames.CallReq, `{"id":1,"name":"log"}`); a.stuck() },
		"before another": func(a *actor) {
			a.send(frames.CallReq, `{"id":1,"name":"slow"}`)
			a.send(frames.CallReq, `{"id":2,"name":"slow"}`)
			a.stuck()
		},
		"beside the end": func(a *actor) { a.send(frames.CallReq, `{"id":1,"name":"slow"}`); a.send(frames.Done, `{"output":1}`) },
	} {
		jail := newStage(t, func(a *actor) { a.begin(); after(a) })
		outcome, err := worker.Run(t.Context(), jail, worker.Task{Job: job()}, host)
		told := fmt.Sprint(err)
		if fault.CodeOf(err) != fault.Internal || !strings.Contains(told, "worker_test.go:") || outcome.Error != nil {
			t.Errorf("%s: %+v, %v", name, outcome, err)
		}
		if strings.Contains(told, "slice bounds out of range") != (name == "of Go's own") || strings.Contains(told, "what the program said") {
			t.Errorf("%s: the log has %s", name, told)
		}
	}
}

// TestNotesAreBounded checks that a program that logs without end keeps running and its notes are counted.
func TestNotesAreBounded(t *testing.T) {
	t.Parallel()
	host := newAudience()
	outcome, err := worker.Run(t.Context(), newStage(t, func(a *actor) {
		a.begin()
		for i := range 30 {
			a.send(frames.CallReq, fmt.Sprintf(`{"id":%d,"name":"log","args":{"m":%q}}`, i+1, strings.Repeat("m", 92)))
			a.read()
		}
		a.send(frames.Done, `{}`)
	}), worker.Task{Job: job()}, host)
	if err != nil || outcome.Error != nil {
		t.Fatalf("%+v, %v", outcome, err)
	}
	if got := host.transcript(t); strings.Count(got, "|log:") != 10 || !strings.HasSuffix(got, `|dropped:{"bytes":2000}`) {
		t.Errorf("events %q", got)
	}
}

func TestDeathBeforeTheStartIsOurs(t *testing.T) {
	t.Parallel()
	_, err := worker.Run(t.Context(), newStage(t, func(a *actor) {
		a.read()
		a.set(func(_ *sandbox.Usage, e *sandbox.Exit) { e.Code, e.Stderr = 1, "panic: no such file" })
	}), worker.Task{Job: job()}, newAudience())
	if !fault.Is(err, fault.SandboxUnavailable) || !strings.Contains(err.Error(), `code 1): 19 bytes on stderr, with "panic:"`) {
		t.Fatalf("error %v", err)
	}
}

// TestLossOfTheLauncherIsOurs checks that a program did not fail if its jail ended with the launcher.
func TestLossOfTheLauncherIsOurs(t *testing.T) {
	t.Parallel()
	_, err := worker.Run(t.Context(), newStage(t, func(a *actor) {
		a.begin()
		a.set(func(_ *sandbox.Usage, e *sandbox.Exit) { e.Signal, e.Orphaned = 9, true })
	}), worker.Task{Job: job(), Prompt: true}, newAudience())
	if !fault.Is(err, fault.SandboxUnavailable) || !errors.Is(err, worker.ErrLost) {
		t.Fatalf("error %v", err)
	}
}

// A program below its own limit is not blamed when the memory of the host, or of a group above the server, runs out.
func TestLackOfMemoryElsewhereIsOurs(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		play func(a *actor)
		lost bool
	}{
		"before the start": {play: func(a *actor) { a.read() }},
		"while it runs":    {play: func(a *actor) { a.begin() }, lost: true},
		"in a process of the program": {play: func(a *actor) {
			a.begin()
			a.send(frames.Done, `{"signal":9}`)
		}, lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outcome, err := worker.Run(t.Context(), newStage(t, func(a *actor) {
				a.set(func(u *sandbox.Usage, e *sandbox.Exit) { u.Starved, e.Signal = true, 9 })
				one.play(a)
			}), worker.Task{Job: job()}, newAudience())
			var known *fault.Error
			if !errors.As(err, &known) || known.Code != fault.SandboxUnavailable || known.RetryAfter == 0 || errors.Is(err, worker.ErrLost) != one.lost {
				t.Errorf("%+v, error %v", outcome, err)
			}
		})
	}
}

func FuzzWorkerIsHostile(f *testing.F) {
	f.Add([]byte("s\x00\x00\x00\x00o\x03\x00\x00\x00abcd\x0e\x00\x00\x00{\"output\":[1]}"))
	f.Add([]byte("s\x00\x00\x00\x00c\x16\x00\x00\x00{\"id\":1,\"name\":\"log\"}  d\x02\x00\x00\x00{}"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		host := newAudience()
		outcome, err := worker.Run(t.Context(), newStage(t, func(a *actor) {
			a.read()
			go func() { _, _ = io.Copy(io.Discard, a.client) }()
			_, _ = a.client.Write(wire)
		}), worker.Task{Job: job()}, host)
		if err == nil && outcome.Error == nil && !json.Valid(outcome.Output) {
			t.Fatalf("outcome %+v", outcome)
		}
		host.transcript(t)
	})
}

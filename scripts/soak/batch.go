package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/atelier-run/atelier/scripts/load"
)

// batch runs the clients of a soak test and collects their results.
type batch struct {
	server *load.Server
	runs   atomic.Int64

	mu     sync.Mutex
	ends   map[string]int // number of runs by status
	kills  []kill
	killed int // number of runs whose answer says that the run's process was killed
	cut    int // number of runs that the server reported as interrupted
	wrong  int
	first  []error // the first few errors
}

// kill describes one killing of a process and its descendants.
type kill struct {
	at    time.Time
	may   int  // maximum number of runs that the kill may have ended: the number of processes in the sandbox
	ended int  // number of answers that this kill explains
	idle  bool // no run executed at that time, so this kill explains no answer
}

func newBatch(ctx context.Context, server *load.Server) (*batch, error) {
	for _, p := range slices.Concat(load.Hello(), troubles(), []load.Program{endless(), node()}) {
		if err := server.Publish(ctx, p); err != nil {
			return nil, err
		}
	}
	return &batch{server: server, ends: map[string]int{}}, nil
}

// work runs the clients until the given number of runs or the given time is reached.
func (c *batch) work(ctx context.Context, runs int64, span time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	var clients sync.WaitGroup
	for range 12 {
		clients.Go(func() {
			for ctx.Err() == nil {
				n := c.runs.Add(1)
				if n > runs {
					c.runs.Add(-1)
					break
				}
				c.one(context.WithoutCancel(ctx), int(n))
			}
		})
	}
	done := make(chan struct{})
	var killer sync.WaitGroup
	killer.Go(func() { c.kill(span, done) })
	clients.Wait()
	close(done)
	killer.Wait()
}

// one executes the nth run. Of a hundred runs, eighty are simple, four have a reader, two are cancelled, and the others
// fail in different ways.
func (c *batch) one(ctx context.Context, n int) {
	hello, troubles := load.Hello(), troubles()
	began := time.Now()
	switch kind := n % 100; {
	case kind < 45:
		c.note(began, c.ask(ctx, hello[0], n))
	case kind < 50:
		c.note(began, c.ask(ctx, node(), n))
	case kind < 54:
		c.note(began, c.follow(ctx, hello[kind%2], n))
	case kind < 70:
		c.note(began, c.ask(ctx, hello[1], n))
	case kind < 80:
		c.note(began, c.ask(ctx, hello[2], n))
	case kind < 98:
		c.note(began, c.ask(ctx, troubles[kind%len(troubles)], n))
	default:
		c.note(began, c.cancel(ctx))
	}
}

func (c *batch) ask(ctx context.Context, p load.Program, n int) error {
	run, err := c.server.Execute(ctx, p, n)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.ends[run.Status]++
	c.mu.Unlock()
	return p.Check(run, n)
}

// follow starts a run and reads its events until the result.
func (c *batch) follow(ctx context.Context, p load.Program, n int) error {
	body := append(append([]byte(`{"version":"1.0.0","input":`), p.Input(n)...), '}')
	answer, err := c.server.Call(ctx, http.MethodPost, "/api/v1/code-agents/"+p.Name+"/execute", body, map[string]string{"Prefer": "respond-async"})
	if err != nil {
		return err
	}
	var run load.Run
	if err := json.Unmarshal(answer, &run); err != nil {
		return err
	}
	var last int64
	var result struct{ Data load.Run }
	ended := false
	err = c.server.Events(ctx, run.RunID, 0, func(seq int64, kind string, data []byte) error {
		if seq <= last || ended {
			return fmt.Errorf("run %s shows event %d after %d", run.RunID, seq, last)
		}
		last, ended = seq, kind == "result"
		if !ended {
			return nil
		}
		return json.Unmarshal(data, &result)
	})
	if err != nil {
		return err
	}
	if !ended {
		return fmt.Errorf("the events of run %s end without a result", run.RunID)
	}
	c.mu.Lock()
	c.ends[result.Data.Status]++
	c.mu.Unlock()
	return p.Check(result.Data, n)
}

// cancel starts an endless run and cancels it.
func (c *batch) cancel(ctx context.Context) error {
	path := "/api/v1/code-agents/" + endless().Name + "/execute"
	answer, err := c.server.Call(ctx, http.MethodPost, path, []byte(`{"version":"1.0.0","input":{}}`), map[string]string{"Prefer": "respond-async"})
	if err != nil {
		return err
	}
	var run load.Run
	if err := json.Unmarshal(answer, &run); err != nil {
		return err
	}
	if answer, err = c.server.Call(ctx, http.MethodPost, "/api/v1/runs/"+run.RunID+"/cancel", nil, nil); err != nil {
		return err
	}
	if err := json.Unmarshal(answer, &run); err != nil {
		return err
	}
	c.mu.Lock()
	c.ends[run.Status]++
	c.mu.Unlock()
	if run.Status != "cancelled" {
		return endless().Check(run, 0)
	}
	return nil
}

// lostContact is a part of the answer to a run that the server records as interrupted.
const lostContact = "lost contact with the program while it ran"

// toldOfKill reports whether an answer says that the process of the run was killed.
func toldOfKill(err error) bool {
	const command = "(exit code 137)" // exit code of a shell whose command was killed
	return slices.ContainsFunc([]string{"The worker ended unexpectedly.", "killed by signal 9", command, lostContact}, func(words string) bool {
		return strings.Contains(err.Error(), words)
	})
}

// note counts a run with an unexpected answer. The answer is correct if it says that a process was killed and a kill
// happened during the run. But one kill may explain only a limited number of answers. Every other unexpected answer is
// an error.
func (c *batch) note(began time.Time, err error) {
	if err == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.cause(began); i >= 0 && toldOfKill(err) {
		c.kills[i].ended++
		c.killed++
		if strings.Contains(err.Error(), lostContact) {
			c.cut++
		}
		return
	}
	c.wrong++
	if strings.Contains(err.Error(), lostContact) {
		c.cut++
	}
	if len(c.first) < 10 {
		c.first = append(c.first, err)
	}
}

// cause returns the index of the last kill since began that can explain one more answer. It returns -1 if there is
// none.
func (c *batch) cause(began time.Time) int {
	for i := len(c.kills) - 1; i >= 0 && began.Before(c.kills[i].at); i-- {
		if c.kills[i].ended < c.kills[i].may {
			return i
		}
	}
	return -1
}

// kill kills a random child process of the server, about four times in the given time.
func (c *batch) kill(span time.Duration, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(span/8 + rand.N(span/4)):
		}
		c.killOne(false)
	}
}

// killOne kills a random descendant of the server. It first stops the process, so that the process starts no children.
// Then it counts the processes of the sandbox.
func (c *batch) killOne(idle bool) {
	pids := load.LookAt(c.server.Pid()).Pids[1:]
	if len(pids) == 0 {
		return
	}
	pid := pids[rand.IntN(len(pids))]
	born := load.Born(pid)
	if born == "" || syscall.Kill(pid, syscall.SIGSTOP) != nil {
		return
	}
	one := kill{idle: idle}
	if !idle {
		one.may = len(load.LookAt(c.jailOf(pid)).Pids)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	one.at = time.Now()
	c.kills = append(c.kills, one)
	_ = syscall.Kill(pid, syscall.SIGKILL) // the process may have ended
}

// jailOf returns the first process of the sandbox to which a process belongs. This process is a child of the server. If
// it ends, the whole sandbox ends.
func (c *batch) jailOf(pid int) int {
	for {
		parent := load.Parent(pid)
		if parent == 0 || parent == c.server.Pid() {
			return pid
		}
		pid = parent
	}
}

// records checks that the number of runs that are recorded as interrupted equals the number of runs that were answered
// as interrupted.
func (c *batch) records(ctx context.Context) error {
	found := 0
	for cursor := ""; ; {
		var page struct {
			Items      []load.Run
			NextCursor string
		}
		if err := c.server.Get(ctx, "/api/v1/runs?limit=200&status=interrupted&cursor="+cursor, &page); err != nil {
			return err
		}
		found += len(page.Items)
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if found != c.cut {
		return fmt.Errorf("%d runs are recorded as interrupted, and %d were answered so", found, c.cut)
	}
	return nil
}

// String summarizes the runs.
func (c *batch) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ends []string
	for _, status := range slices.Sorted(maps.Keys(c.ends)) {
		ends = append(ends, fmt.Sprintf("%d %s", c.ends[status], status))
	}
	idle := 0
	for _, one := range c.kills {
		if one.idle {
			idle++
		}
	}
	return fmt.Sprintf("%d runs: %s; %d processes killed while runs executed, and %d between runs; %d runs executed in a killed process and say so; %d wrong\n",
		c.runs.Load(), strings.Join(ends, ", "), len(c.kills)-idle, idle, c.killed, c.wrong)
}

func (c *batch) fault() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wrong == 0 {
		return nil
	}
	return fmt.Errorf("%d runs did not end as they should: %w", c.wrong, errors.Join(c.first...))
}

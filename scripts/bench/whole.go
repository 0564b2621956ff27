package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"github.com/atelier-run/atelier/scripts/load"
)

const mega = 1 << 20

// start measures the time from the start of the server until it is ready. After that, it measures the first run of each
// language.
func (b *bench) start(ctx context.Context) (section, error) {
	dir, err := os.MkdirTemp("", "atelier-bench")
	if err != nil {
		return section{}, err
	}
	defer os.RemoveAll(dir)
	ready := &load.Sample{}
	first := map[string]*load.Sample{}
	for round := range b.rounds/2 + 1 {
		server, err := load.Start(ctx, load.Options{Binary: b.binary, Data: filepath.Join(dir, "data")})
		if err != nil {
			return section{}, err
		}
		ready.Times = append(ready.Times, server.Ready)
		err = b.firsts(ctx, server, first, round)
		if err := errors.Join(err, server.Stop()); err != nil {
			return section{}, err
		}
	}
	slices.Sort(ready.Times)
	s := section{title: fmt.Sprintf("Start, %d times", len(ready.Times))}
	s.rows = append(s.rows, bar{must: 300, aim: 100, unit: "ms"}.judge(
		row{what: "start to ready", measured: fmt.Sprintf("p50 %.0f ms", ready.At(0.5))}, ready.At(0.5), "the machine was busy otherwise, see the other rows"))
	for _, p := range load.Hello() {
		if sample := first[p.Name]; sample != nil {
			slices.Sort(sample.Times)
			s.rows = append(s.rows, row{what: "first run after the start, " + p.Language, measured: fmt.Sprintf("p50 %.1f ms", sample.At(0.5)),
				verdict: "with the wait for the sandbox's examination"})
		}
	}
	return s, ctx.Err()
}

// firsts publishes the programs in the first round. In each later round it measures the first run of each program after
// the server has started.
func (b *bench) firsts(ctx context.Context, server *load.Server, first map[string]*load.Sample, round int) error {
	for _, p := range load.Hello() {
		if err := server.Ensure(ctx, p); err != nil {
			return err
		}
		if round == 0 {
			continue
		}
		asked := time.Now()
		if err := server.Checked(p)(ctx, round); err != nil {
			return err
		}
		if first[p.Name] == nil {
			first[p.Name] = &load.Sample{}
		}
		first[p.Name].Times = append(first[p.Name].Times, time.Since(asked))
	}
	return nil
}

// cold measures the first run of versions that have never run before.
func (b *bench) cold(ctx context.Context) (section, error) {
	s := section{title: fmt.Sprintf("First run of a version, %d of each", b.rounds)}
	for _, p := range load.Hello() {
		sample, name := &load.Sample{}, p.Name
		for n := range b.rounds {
			p.Name = fmt.Sprintf("%s-cold-%d", name, n)
			p.Code += "\n"
			if err := b.server.Publish(ctx, p); err != nil {
				return s, err
			}
			asked := time.Now()
			if err := b.server.Checked(p)(ctx, n); err != nil {
				return s, err
			}
			sample.Times = append(sample.Times, time.Since(asked))
		}
		slices.Sort(sample.Times)
		s.rows = append(s.rows, row{what: p.Language, measured: fmt.Sprintf("p50 %.2f  worst %.2f ms", sample.At(0.5), sample.At(1))})
	}
	return s, nil
}

// memory measures the memory of an idle server and of a busy server.
func (b *bench) memory(ctx context.Context) (section, error) {
	server, err := load.Start(ctx, load.Options{Binary: b.binary, Flags: []string{"--warm", "1"}})
	if err != nil {
		return section{}, err
	}
	defer func() { _ = server.Stop() }()
	var calls []load.Call
	for _, p := range load.Hello() {
		if err := server.Publish(ctx, p); err != nil {
			return section{}, err
		}
		calls = append(calls, server.Checked(p))
	}
	own, tree := load.PSS(server.Pid()), load.LookAt(server.Pid())
	s := section{title: "Memory, PSS", rows: []row{
		bar{must: 80, aim: 50, unit: "MB"}.judge(row{what: "idle, the server without its workers", measured: fmt.Sprintf("%.0f MB", float64(own)/mega)}, float64(own)/mega, "see make profile"),
		{what: "idle, with one warm worker a runtime", measured: fmt.Sprintf("%.0f MB in %d processes", float64(tree.PSS)/mega, len(tree.Pids))},
	}}
	done := make(chan struct{})
	var most, mostOwn int64
	var processes int
	go func() {
		defer close(done)
		load.Closed(ctx, 50, b.span, func(ctx context.Context, n int) error { return calls[n%len(calls)](ctx, n) })
	}()
	for watching := true; watching; {
		tree := load.LookAt(server.Pid())
		most, mostOwn, processes = max(most, tree.PSS), max(mostOwn, load.PSS(server.Pid())), max(processes, len(tree.Pids))
		select {
		case <-done:
			watching = false
		case <-time.After(100 * time.Millisecond):
		}
	}
	s.rows = append(s.rows,
		row{what: "50 clients, the server without its workers", measured: fmt.Sprintf("%.0f MB", float64(mostOwn)/mega)},
		row{what: "50 clients, with all its workers", measured: fmt.Sprintf("%.0f MB in %d processes", float64(most)/mega, processes)})
	return s, ctx.Err()
}

// socket measures the time from a program's write until a WebSocket client receives the text. The program writes the
// current time. Program and client use the same clock, because both run on this machine.
func (b *bench) socket(ctx context.Context) (section, error) {
	const lines = 100
	program := load.Program{
		Name: "ticks-py", Language: "python", Entrypoint: "main.py", Takes: map[string]any{"type": "object"}, Gives: map[string]any{},
		Code: fmt.Sprintf("import time\n\ndef main(input, ctx):\n    time.sleep(0.2)\n    for _ in range(%d):\n        print(time.time_ns(), flush=True)\n        time.sleep(0.005)\n    return %d\n", lines, lines),
	}
	if err := b.server.Publish(ctx, program); err != nil {
		return section{}, err
	}
	c := b.observe(func() *load.Sample {
		sample, began := &load.Sample{}, time.Now()
		for range b.rounds {
			times, err := b.follow(ctx, program.Name)
			sample.Times = append(sample.Times, times...)
			if err == nil && len(times) != lines {
				err = fmt.Errorf("%d of %d lines came", len(times), lines)
			}
			if err != nil {
				sample.Wrong, sample.Fault = sample.Wrong+1, errors.Join(sample.Fault, err)
			}
		}
		slices.Sort(sample.Times)
		sample.Span = time.Since(began)
		return sample
	})
	r := row{what: fmt.Sprintf("%d lines, one every 5 ms", lines*b.rounds), measured: fmt.Sprintf("p50 %.2f  p99 %.2f ms", c.At(0.5), c.At(0.99))}
	return section{title: "From print to WebSocket", rows: []row{
		bar{must: 5, aim: 1, unit: "ms p50"}.judge(r, c.At(0.5), fmt.Sprintf("others used %.1f cores", c.others)),
	}}, ctx.Err()
}

// follow runs a program that writes the current time in each line. It returns the age of each line when the line
// arrives.
func (b *bench) follow(ctx context.Context, name string) ([]time.Duration, error) {
	answer, err := b.server.Call(ctx, http.MethodPost, "/api/v1/code-agents/"+name+"/execute", []byte(`{"version":"1.0.0","input":{}}`), map[string]string{"Prefer": "respond-async"})
	if err != nil {
		return nil, err
	}
	var run load.Run
	if err := json.Unmarshal(answer, &run); err != nil {
		return nil, err
	}
	socket, err := b.server.Socket(ctx, run.RunID)
	if err != nil {
		return nil, err
	}
	defer socket.Close()
	var times []time.Duration
	for {
		_, frame, err := socket.ReadMessage()
		now := time.Now()
		if websocket.IsCloseError(err, websocket.CloseNormalClosure) {
			return times, nil
		}
		if err != nil {
			return times, err
		}
		var event struct {
			Kind string
			Data json.RawMessage
		}
		var text string
		if err := json.Unmarshal(frame, &event); err != nil {
			return times, err
		}
		if event.Kind != "stdout" {
			continue
		}
		if err := json.Unmarshal(event.Data, &text); err != nil {
			return times, err
		}
		for line := range strings.FieldsSeq(text) {
			written, err := strconv.ParseInt(line, 10, 64)
			if err != nil {
				return times, err
			}
			times = append(times, now.Sub(time.Unix(0, written)))
		}
	}
}

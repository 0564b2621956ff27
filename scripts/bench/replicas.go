package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/atelier-run/atelier/scripts/load"
)

// postgres is the PostgreSQL server of one section. It syncs each commit to the disk, as in production.
type postgres struct {
	dir, url string
	pid      int
}

// startPostgres starts a PostgreSQL server in a directory below /tmp, because the path of a Unix socket must be short.
func startPostgres(ctx context.Context) (*postgres, error) {
	dir, err := os.MkdirTemp("/tmp", "bench-pg")
	if err != nil {
		return nil, err
	}
	p := &postgres{dir: dir}
	start := exec.CommandContext(ctx, "scripts/postgres.sh", "start", dir)
	start.Env = append(os.Environ(), "FSYNC=on")
	text, err := start.Output()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start PostgreSQL: %w", err), p.stop())
	}
	p.url = strings.TrimSpace(string(text))
	first, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	if err != nil {
		return nil, errors.Join(err, p.stop())
	}
	p.pid, err = strconv.Atoi(strings.SplitN(string(first), "\n", 2)[0])
	return p, err
}

func (p *postgres) stop() error {
	text, err := exec.Command("scripts/postgres.sh", "stop", p.dir).CombinedOutput() // no context, so that PostgreSQL is always stopped
	if err != nil {
		err = fmt.Errorf("stop PostgreSQL: %w: %s", err, text)
	}
	return errors.Join(err, os.RemoveAll(p.dir))
}

// replicaClients is the total number of simultaneous requests to all servers.
const replicaClients = 24

// costs holds the CPU time of one run, measured with a given number of servers.
type costs struct {
	cell
	database, clients float64 // CPU time per run in milliseconds
}

// total returns the CPU time of one run in milliseconds.
func (c costs) total() float64 { return c.cpu + c.database + c.clients }

// received returns the number of CPU cores that servers, PostgreSQL and clients used together.
func (c costs) received() float64 { return c.total() * c.PerSecond() / 1000 }

// model compares a measurement with the model in docs/scale.md. The model assumes that the CPU time of a run does not
// depend on the number of servers.
func (c costs) model(one costs) string {
	return fmt.Sprintf("CPU a run: servers %.2f ms, PostgreSQL %.2f ms, clients %.2f ms; the model predicts %.0f/s with the %.1f cores that these had; others used %.1f",
		c.cpu, c.database, c.clients, 1000*c.received()/one.total(), c.received(), c.others)
}

// replicas measures one, two and three servers that share a PostgreSQL database, and kills one of three. The model in
// docs/scale.md is based on these numbers, and they are used to check it.
func (b *bench) replicas(ctx context.Context) (s section, err error) {
	s.title = "Servers on one PostgreSQL, all on this machine"
	database, err := startPostgres(ctx)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, database.stop()) }()
	key := filepath.Join(database.dir, "secrets.key")
	if err := os.WriteFile(key, []byte(base64.StdEncoding.EncodeToString(make([]byte, 32))+"\n"), 0o600); err != nil {
		return s, err
	}
	var servers []*load.Server
	defer func() {
		for _, server := range servers {
			err = errors.Join(err, server.Stop())
		}
	}()
	p := helloIn("javascript")
	var one costs
	for count := 1; count <= 3; count++ {
		server, err := load.Start(ctx, load.Options{Binary: b.binary, Flags: []string{"--replicas", "--database", database.url, "--secrets-key-file", key}})
		if err != nil {
			return s, err
		}
		servers = append(servers, server)
		if err := server.Ensure(ctx, p); err != nil {
			return s, err
		}
		c := b.observeReplicas(ctx, servers, database, p)
		if count == 1 {
			one = c
		}
		r := row{what: fmt.Sprintf("servers: %d, %d at once", count, replicaClients), measured: c.String(), floor: c.model(one)}
		if count > 1 {
			r = bar{must: 0.9 * one.PerSecond(), least: true, unit: "/s", of: "0.9 × one server"}.judge(r, c.PerSecond(), "")
		}
		s.rows = append(s.rows, r)
	}
	killed, err := killOne(ctx, servers, p, b.span)
	servers = servers[:2]
	return section{s.title, append(s.rows, killed)}, errors.Join(err, ctx.Err())
}

// observeReplicas measures servers. The clients are divided evenly between the servers.
func (b *bench) observeReplicas(ctx context.Context, servers []*load.Server, database *postgres, p load.Program) costs {
	asks := make([]load.Call, 0, len(servers))
	for _, server := range servers {
		asks = append(asks, server.Checked(p))
	}
	ask := func(ctx context.Context, n int) error { return asks[n%replicaClients%len(asks)](ctx, n) }
	load.Closed(ctx, replicaClients, time.Second, ask) // this sample is not counted, because the pools are cold
	spent := func() (all [4]time.Duration) {
		for _, server := range servers {
			all[0] += load.LookAt(server.Pid()).CPU
		}
		all[1], all[2], all[3] = load.LookAt(database.pid).CPU, load.OwnCPU(), load.Busy()
		return all
	}
	before := spent()
	c := costs{cell: cell{Sample: load.Closed(ctx, replicaClients, b.span, ask)}}
	after := spent()
	for i := range after {
		after[i] -= before[i]
	}
	runs := float64(max(1, len(c.Times)))
	c.cpu, c.database, c.clients = load.Ms(after[0])/runs, load.Ms(after[1])/runs, load.Ms(after[2])/runs
	c.others = max(0, (after[3]-after[0]-after[1]-after[2]).Seconds()/c.Span.Seconds())
	b.faults = errors.Join(b.faults, c.Fault)
	return c
}

// killOne kills the last of several servers under load. Another server must be able to return every run that the killed
// server acknowledged.
func killOne(ctx context.Context, servers []*load.Server, p load.Program, span time.Duration) (row, error) {
	last := servers[len(servers)-1]
	var mu sync.Mutex
	var acknowledged []string
	var clients sync.WaitGroup
	for client := range replicaClients {
		clients.Go(func() {
			for n := client; ctx.Err() == nil; n += replicaClients {
				run, err := last.Execute(ctx, p, n)
				if err != nil {
					return // Wait returns an error because the server was killed
				}
				mu.Lock()
				acknowledged = append(acknowledged, run.RunID)
				mu.Unlock()
			}
		})
	}
	select {
	case <-time.After(span):
	case <-ctx.Done():
	}
	err := last.Kill()
	clients.Wait()
	lost := 0
	for _, id := range slices.Backward(acknowledged) {
		var run load.Run
		answer, failed := servers[0].Call(ctx, "GET", "/api/v1/runs/"+id, nil, nil)
		if failed != nil || json.Unmarshal(answer, &run) != nil || run.Status != "succeeded" {
			lost++
		}
	}
	r := row{what: "one of three killed", measured: fmt.Sprintf("%d runs acknowledged, %d lost", len(acknowledged), lost)}
	return bar{must: 0, unit: "lost"}.judge(r, float64(lost), "an acknowledged run is not found at another server"), err
}

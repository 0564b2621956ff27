package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/atelier-run/atelier/scripts/load"
)

// resources lists the resources in the order of the table. slack is the growth that does not count as a leak, in
// addition to ten percent.
var resources = []struct {
	name  string
	slack float64
}{
	{"processes", 3}, {"descriptors", 10}, {"mounts", 0}, {"cgroups", 6}, {"temp files", 0}, {"goroutines", 8},
	{"MB of live heap", 3}, {"MB of the server", 12}, {"MB of its workers", 24}, {"KB of disk per run", 1},
}

// sample holds the amount of each resource at one time.
type sample []float64

func (s sample) String() string {
	var parts []string
	for i, r := range resources {
		parts = append(parts, fmt.Sprintf("%.0f %s", s[i], r.name))
	}
	return strings.Join(parts, ", ")
}

// look waits until the server is idle and counts its resources.
func look(ctx context.Context, server *load.Server, temporary, data string, runs int64) (sample, error) {
	if err := idle(ctx, server); err != nil {
		return nil, err
	}
	metrics, err := server.Metrics(ctx)
	if err != nil {
		return nil, err
	}
	const mega = 1 << 20
	tree := load.LookAt(server.Pid())
	own := load.PSS(server.Pid())
	descriptors := 0
	for _, pid := range tree.Pids {
		descriptors += entries(fmt.Sprintf("/proc/%d/fd", pid))
	}
	mounts, _ := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", server.Pid()))
	return sample{
		float64(len(tree.Pids)), float64(descriptors), float64(strings.Count(string(mounts), "\n")), float64(cgroups(server.Pid())),
		float64(files(temporary)), metrics["go_goroutines"],
		metrics["go_memstats_next_gc_bytes"] / 2 / mega, // the collector runs when the heap has doubled, so half of this value is the heap in use
		float64(own) / mega, float64(tree.PSS-own) / mega,
		float64(size(data)) / 1024 / float64(max(runs, 1)),
	}, nil
}

// idle waits until no run is executing and the pools have not changed for a while.
func idle(ctx context.Context, server *load.Server) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	last, since := []int{}, time.Now()
	for {
		var list struct {
			Items []struct {
				Workers struct{ Idle, Busy, Preparing, Waiting int }
				Queue   struct{ Depth, Running int }
			}
		}
		if err := server.Get(ctx, "/api/v1/runtimes", &list); err != nil {
			return fmt.Errorf("the server did not become idle: %w", err)
		}
		var now []int
		work := 0
		for _, item := range list.Items {
			now = append(now, item.Workers.Idle)
			work += item.Workers.Busy + item.Workers.Preparing + item.Workers.Waiting + item.Queue.Depth + item.Queue.Running
		}
		now = append(now, len(load.LookAt(server.Pid()).Pids))
		if work > 0 || !slices.Equal(now, last) {
			last, since = now, time.Now()
		}
		if time.Since(since) > 500*time.Millisecond {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return errors.New("the server did not become idle within a minute")
		}
	}
}

func entries(dir string) int {
	list, _ := os.ReadDir(dir)
	return len(list)
}

func files(dir string) int {
	n := -1 // the directory of the group itself is not counted
	_ = filepath.WalkDir(dir, func(string, fs.DirEntry, error) error { n++; return nil })
	return n
}

// size returns the total size in bytes of the files below dir. It omits the write-ahead log of the database, because
// this log stops growing at a limit.
func size(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "-wal") {
			return nil
		}
		if info, err := entry.Info(); err == nil { // another process may have removed the file
			total += info.Size()
		}
		return nil
	})
	return total
}

// cgroups counts the cgroups that this server created, and their descendants. It finds them by name.
func cgroups(pid int) int {
	n := 0
	mark := "/atelier-" + strconv.Itoa(pid) + "-"
	_ = filepath.WalkDir("/sys/fs/cgroup", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && strings.Contains(name, mark) {
			n++
		}
		return nil
	})
	return n
}

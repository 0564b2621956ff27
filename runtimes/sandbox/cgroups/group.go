package cgroups

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Group is the control group of one process tree. Its methods may be called from any goroutine.
type Group struct {
	v2       bool
	dirs     map[string]string // same keys as in Tree.bases
	counters counters

	mu     sync.Mutex
	limits limits // limits set in the kernel; zero if none was set yet

	// Fields for reuse. They change only while a single goroutine owns the group.
	uses        int
	base        time.Duration // CPU time of earlier uses
	descriptors []*os.File
}

type limits struct{ memory, pids int64 }

func newGroup(v2 bool, dirs map[string]string) *Group {
	g := &Group{v2: v2, dirs: dirs}
	g.counters.of = g.countersOf()
	return g
}

// Stats is the usage of a group, as counted by the kernel.
type Stats struct {
	CPU      time.Duration
	Memory   int64 // current bytes
	Peak     int64 // peak bytes since ResetPeak
	OOMKills int64 // processes that the kernel killed because this group, a parent group or the host had no free memory
	// LimitHits counts how often this group's own memory limit was reached. If it is 0, an OOM kill was caused by a parent
	// group or the host. It is read only if OOMKills is not 0.
	LimitHits int64
	Pids      int64 // current number of processes and threads
	PidsHits  int64 // number of forks that were refused because of the process limit
}

func (g *Group) dir(controller string) string {
	if g.v2 {
		return g.dirs["unified"]
	}
	return g.dirs[controller]
}

// Join moves a process with all its threads into the group. Processes that it starts later are in the group too. Memory
// that it used before is not counted for the group.
func (g *Group) Join(pid int) error {
	for _, dir := range g.dirs {
		if err := write(dir, "cgroup.procs", strconv.Itoa(pid)); err != nil {
			return fmt.Errorf("join control group: %w", err)
		}
	}
	return nil
}

// Limit sets the limits of memory in bytes, including swap, and of the number of processes and threads. It fails if the
// group already uses more memory. It writes only changed limits, which saves time: most runs of a worker have the same
// limits as the previous run.
func (g *Group) Limit(memory, pids int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.limits.pids != pids {
		g.limits.pids = 0
		if err := write(g.dir("pids"), "pids.max", strconv.FormatInt(pids, 10)); err != nil {
			return fmt.Errorf("limit processes: %w", err)
		}
		g.limits.pids = pids
	}
	if g.limits.memory != memory {
		g.limits.memory = 0
		if err := g.limitMemory(memory); err != nil {
			return fmt.Errorf("limit memory: %w", err)
		}
		g.limits.memory = memory
	}
	return nil
}

func (g *Group) limitMemory(bytes int64) error {
	dir, text := g.dir("memory"), strconv.FormatInt(bytes, 10)
	if g.v2 {
		// Version 1 rejects a limit below the current usage, but version 2 accepts it and kills processes. So check here.
		if g.counters.read(countMemory) > bytes {
			return unix.EBUSY
		}
		if err := write(dir, "memory.max", text); err != nil {
			return err
		}
		return ignoreMissing(write(dir, "memory.swap.max", "0"))
	}
	// The limit of memory and swap together must never be lower than the limit of memory. So it is raised first and
	// lowered last. Its file is missing on a host that does not count swap.
	plain, swap := "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"
	if err := write(dir, plain, text); err == nil {
		return ignoreMissing(write(dir, swap, text))
	}
	if err := ignoreMissing(write(dir, swap, text)); err != nil {
		return err
	}
	return write(dir, plain, text)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Stats reads all counters. A counter that the host does not have is 0.
func (g *Group) Stats() Stats {
	stats := g.Used()
	stats.Memory, stats.Pids = g.counters.read(countMemory), g.counters.read(countPids)
	return stats
}

// Used returns the cumulative counters: all fields of Stats except Memory and Pids.
func (g *Group) Used() Stats {
	stats := Stats{
		CPU:      g.CPU(),
		Peak:     g.counters.read(countPeak),
		OOMKills: g.counters.read(countKills),
		PidsHits: g.counters.read(countHits),
	}
	if stats.OOMKills > 0 { // LimitHits is only needed to find the cause of a kill
		stats.LimitHits = g.limitHits()
	}
	return stats
}

// limitHits returns how often the memory limit was reached, as version 2 counts it. New kernels do not count this in
// version 1. There it returns 1 if the peak shows that the limit was reached.
func (g *Group) limitHits() int64 {
	if g.v2 {
		return g.counters.read(countFull)
	}
	g.mu.Lock()
	limit := g.limits.memory
	g.mu.Unlock()
	if limit > 0 && g.counters.read(countPeak) >= limit-chargedAtOnce {
		return 1
	}
	return 0
}

// chargedAtOnce is an upper bound of the memory, in bytes, that the kernel charges to a group in one step. When the
// limit is reached, the peak can be lower than the limit by this amount.
const chargedAtOnce = 1 << 20

// CPU returns the processor time used so far.
func (g *Group) CPU() time.Duration {
	unit := time.Nanosecond
	if g.v2 {
		unit = time.Microsecond
	}
	return max(0, time.Duration(g.counters.read(countCPU))*unit-g.base)
}

// ResetPeak sets the memory peak to the current usage, if the kernel supports that. In version 2 this needs Linux 6.12, and
// only the descriptor that was written to shows the new peak. counters uses the same descriptor for reading and writing.
func (g *Group) ResetPeak() { g.counters.write(countPeak, "0") }

// Kill kills every process of the group.
func (g *Group) Kill() {
	if dir := g.dirs["unified"]; dir != "" && write(dir, "cgroup.kill", "1") == nil {
		return
	}
	for _, controller := range []string{"freezer", "pids"} { // the group has the same processes in every hierarchy
		if dir := g.dirs[controller]; dir != "" {
			killMembers(dir)
			return
		}
	}
}

// killMembers kills the processes of a version 1 group. If possible, it first freezes the group, so that the processes
// cannot fork while they are killed.
func killMembers(dir string) {
	if write(dir, "cgroup.kill", "1") == nil {
		return
	}
	frozen := write(dir, "freezer.state", "FROZEN") == nil
	for range 20 { // a fork bomb that cannot be frozen may need several rounds
		members, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if err != nil || len(members) == 0 {
			break
		}
		for member := range strings.FieldsSeq(string(members)) {
			if pid, err := strconv.Atoi(member); err == nil && pid > 1 {
				_ = unix.Kill(pid, unix.SIGKILL)
			}
		}
		if frozen {
			break
		}
	}
	if frozen {
		_ = write(dir, "freezer.state", "THAWED")
	}
}

// Remove removes the group. All its processes must have ended.
func (g *Group) Remove() error {
	g.counters.close()
	closeDescriptors(g.descriptors)
	g.descriptors = nil
	var all error
	limit := time.Now().Add(removeWait)
	for _, dir := range g.dirs {
		all = errors.Join(all, removeEmpty(dir, limit))
	}
	return all
}

// removeWait is the maximum time to wait until the kernel removes dead processes from their group.
const removeWait = 2 * time.Second

// removeEmpty removes the directory of a group. It retries until limit, because the kernel still counts a dead process as
// a member for a short time after its parent has waited for it.
func removeEmpty(dir string, limit time.Time) error {
	pause := 50 * time.Microsecond
	for {
		err := os.Remove(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) || time.Now().After(limit) {
			return fmt.Errorf("remove control group: %w", err)
		}
		time.Sleep(pause)
		pause = min(2*pause, 20*time.Millisecond)
	}
}

// Dirs lists the group's directories, one per hierarchy.
func (g *Group) Dirs() []string {
	dirs := slices.Collect(maps.Values(g.dirs))
	slices.Sort(dirs)
	return dirs
}

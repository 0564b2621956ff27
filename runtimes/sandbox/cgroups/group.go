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

// Group holds one process tree. Its methods may be called from any goroutine.
type Group struct {
	v2       bool
	dirs     map[string]string // keys as in Tree.bases
	counters counters

	mu     sync.Mutex
	limits limits // limits set in the kernel, zero before the first

	// For a reused group. These change only while one goroutine owns the group.
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

// Stats holds counters of the kernel.
type Stats struct {
	CPU      time.Duration
	Memory   int64 // current bytes
	Peak     int64 // bytes, since ResetPeak
	OOMKills int64 // processes that the kernel killed to free memory, for this limit or for that of a group above or of the host
	// LimitHits counts how often the memory limit of this group refused memory. Without one, a kill had another cause. It
	// is counted only after a kill.
	LimitHits int64
	Pids      int64 // current number of processes and threads
	PidsHits  int64 // forks refused because of the process limit
}

func (g *Group) dir(controller string) string {
	if g.v2 {
		return g.dirs["unified"]
	}
	return g.dirs[controller]
}

// Join moves a process with all its threads into the group. Processes that it starts later begin in the group. Memory
// that it has already is not counted.
func (g *Group) Join(pid int) error {
	for _, dir := range g.dirs {
		if err := write(dir, "cgroup.procs", strconv.Itoa(pid)); err != nil {
			return fmt.Errorf("join control group: %w", err)
		}
	}
	return nil
}

// Limit bounds memory in bytes, including swap, and the number of processes and threads. It fails if the group uses
// more memory than that. It writes only changed limits, because most runs of a worker have the limits of the run
// before.
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
		// Version 1 rejects a limit below the current usage; version 2 accepts it and kills.
		if g.counters.read(countMemory) > bytes {
			return unix.EBUSY
		}
		if err := write(dir, "memory.max", text); err != nil {
			return err
		}
		return ignoreMissing(write(dir, "memory.swap.max", "0"))
	}
	// The limit of memory with swap may never be below that of memory. So it is raised first and lowered last. It is
	// missing on a host that does not count swap.
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

// Stats reads the counters. Counters that the host lacks are 0.
func (g *Group) Stats() Stats {
	stats := g.Used()
	stats.Memory, stats.Pids = g.counters.read(countMemory), g.counters.read(countPids)
	return stats
}

// Used returns the usage so far: the counters without Memory and Pids, which are current values.
func (g *Group) Used() Stats {
	stats := Stats{
		CPU:      g.CPU(),
		Peak:     g.counters.read(countPeak),
		OOMKills: g.counters.read(countKills),
		PidsHits: g.counters.read(countHits),
	}
	if stats.OOMKills > 0 { // it only distinguishes kills
		stats.LimitHits = g.limitHits()
	}
	return stats
}

// limitHits returns how often the limit refused memory, as version 2 counts it. The counter of version 1 is 0 on new
// kernels, so there the peak shows whether the limit was reached.
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

// chargedAtOnce is more memory than the kernel counts in one step.
const chargedAtOnce = 1 << 20

// CPU returns the processor time used so far.
func (g *Group) CPU() time.Duration {
	unit := time.Nanosecond
	if g.v2 {
		unit = time.Microsecond
	}
	return max(0, time.Duration(g.counters.read(countCPU))*unit-g.base)
}

// ResetPeak starts a new memory peak if the kernel supports that: version 2 since Linux 6.12. The new peak is visible
// only through the descriptor that was written to, which the counters use.
func (g *Group) ResetPeak() { g.counters.write(countPeak, "0") }

// Kill kills every process of the group.
func (g *Group) Kill() {
	if dir := g.dirs["unified"]; dir != "" && write(dir, "cgroup.kill", "1") == nil {
		return
	}
	for _, controller := range []string{"freezer", "pids"} { // every hierarchy has the same members
		if dir := g.dirs[controller]; dir != "" {
			killMembers(dir)
			return
		}
	}
}

// killMembers kills the processes of a version 1 group. It freezes the group if possible, to prevent forks meanwhile.
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

// Remove removes the group after the last of its processes is gone.
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

// removeWait bounds the time that dead processes may take to leave their group.
const removeWait = 2 * time.Second

// removeEmpty waits a little, because the kernel counts a process as a member until shortly after it was waited for.
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

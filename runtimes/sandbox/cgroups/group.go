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

// Group holds one tree of processes. Its methods may be called from any goroutine.
type Group struct {
	v2   bool
	dirs map[string]string // as in Tree.bases

	mu   sync.Mutex
	peak *os.File // version 2: the peak counts per open file, from when something is written to it
}

// Stats are counters of the kernel.
type Stats struct {
	CPU      time.Duration
	Memory   int64 // bytes now
	Peak     int64 // bytes, since ResetPeak
	OOMKills int64 // processes killed because of the memory limit
	Pids     int64 // processes and threads now
	PidsHits int64 // forks refused because of the process limit
}

func (g *Group) dir(controller string) string {
	if g.v2 {
		return g.dirs["unified"]
	}
	return g.dirs[controller]
}

// Join moves a process with all its threads into the group. What it starts later is born there; memory that it has
// already is not counted.
func (g *Group) Join(pid int) error {
	for _, dir := range g.dirs {
		if err := write(dir, "cgroup.procs", strconv.Itoa(pid)); err != nil {
			return fmt.Errorf("join control group: %w", err)
		}
	}
	return nil
}

// Limit bounds memory in bytes, with swap, and the number of processes and threads. Less memory than the group uses is
// refused.
func (g *Group) Limit(memory, pids int64) error {
	if err := write(g.dir("pids"), "pids.max", strconv.FormatInt(pids, 10)); err != nil {
		return fmt.Errorf("limit processes: %w", err)
	}
	if err := g.limitMemory(memory); err != nil {
		return fmt.Errorf("limit memory: %w", err)
	}
	return nil
}

func (g *Group) limitMemory(bytes int64) error {
	dir, text := g.dir("memory"), strconv.FormatInt(bytes, 10)
	if g.v2 {
		// Version 1 refuses a limit below what is in use; version 2 takes it and kills.
		if number(dir, "memory.current") > bytes {
			return unix.EBUSY
		}
		if err := write(dir, "memory.max", text); err != nil {
			return err
		}
		return ignoreMissing(write(dir, "memory.swap.max", "0"))
	}
	// The limit of memory with swap may never be below that of memory: going up it is raised first, going down it is
	// lowered last. On a host that does not count swap it is not there.
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

// Stats reads the counters. What the host does not count is 0.
func (g *Group) Stats() Stats {
	if g.v2 {
		dir := g.dirs["unified"]
		return Stats{
			CPU:      time.Duration(field(dir, "cpu.stat", "usage_usec")) * time.Microsecond,
			Memory:   number(dir, "memory.current"),
			Peak:     g.peakV2(),
			OOMKills: field(dir, "memory.events", "oom_kill"),
			Pids:     number(dir, "pids.current"),
			PidsHits: field(dir, "pids.events", "max"),
		}
	}
	return Stats{
		CPU:      time.Duration(number(g.dirs["cpuacct"], "cpuacct.usage")),
		Memory:   number(g.dirs["memory"], "memory.usage_in_bytes"),
		Peak:     number(g.dirs["memory"], "memory.max_usage_in_bytes"),
		OOMKills: field(g.dirs["memory"], "memory.oom_control", "oom_kill"),
		Pids:     number(g.dirs["pids"], "pids.current"),
		PidsHits: field(g.dirs["pids"], "pids.events", "max"),
	}
}

func (g *Group) peakV2() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.peak == nil {
		return number(g.dirs["unified"], "memory.peak")
	}
	buf := make([]byte, 32)
	n, _ := g.peak.ReadAt(buf, 0)
	value, _ := strconv.ParseInt(strings.TrimSpace(string(buf[:n])), 10, 64)
	return value
}

// ResetPeak starts a new peak of memory, where the kernel can do that.
func (g *Group) ResetPeak() {
	if !g.v2 {
		_ = write(g.dirs["memory"], "memory.max_usage_in_bytes", "0")
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.peak == nil {
		f, err := os.OpenFile(filepath.Join(g.dirs["unified"], "memory.peak"), os.O_RDWR, 0)
		if err != nil {
			return
		}
		g.peak = f
	}
	if _, err := g.peak.WriteString("0"); err != nil { // before Linux 6.12
		_ = g.peak.Close()
		g.peak = nil
	}
}

// Kill ends every process of the group.
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

// killMembers kills what is in a group of version 1, frozen if it can be, so that nothing forks away meanwhile.
func killMembers(dir string) {
	if write(dir, "cgroup.kill", "1") == nil {
		return
	}
	frozen := write(dir, "freezer.state", "FROZEN") == nil
	for range 20 { // a fork bomb that cannot be frozen may need more than one round
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

// Remove removes the group, once the last of its processes is gone.
func (g *Group) Remove() error {
	g.mu.Lock()
	if g.peak != nil {
		_ = g.peak.Close()
		g.peak = nil
	}
	g.mu.Unlock()
	var all error
	limit := time.Now().Add(removeWait)
	for _, dir := range g.dirs {
		all = errors.Join(all, removeEmpty(dir, limit))
	}
	return all
}

// removeWait is how long the dead may take to leave their group.
const removeWait = 2 * time.Second

// removeEmpty waits a little: the kernel counts a process as a member until shortly after it was waited for.
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

// number reads a file that holds one number, 0 if there is none.
func number(dir, file string) int64 {
	if dir == "" {
		return 0
	}
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return 0
	}
	value, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return value
}

// field reads a number behind its name in a file of "name number" lines.
func field(dir, file, name string) int64 {
	if dir == "" {
		return 0
	}
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			value, _ := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
			return value
		}
	}
	return 0
}

// Dirs lists the group's directories, one per hierarchy.
func (g *Group) Dirs() []string {
	dirs := slices.Collect(maps.Values(g.dirs))
	slices.Sort(dirs)
	return dirs
}

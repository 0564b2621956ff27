package cgroups

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Making and removing a group takes longer than most programs run, so clean groups are reused.
const (
	maxFree    = 64
	maxUses    = 1000
	maxResidue = 1 << 20 // bytes that the kernel still counts for an empty group, such as its reserve for each processor
)

// free holds groups without processes, ready for use.
type free struct {
	mu     sync.Mutex
	groups []*Group
	closed bool
}

// take returns a free group, or nil if there is none.
func (f *free) take() *Group {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.groups) == 0 {
		return nil
	}
	g := f.groups[len(f.groups)-1]
	f.groups = f.groups[:len(f.groups)-1]
	return g
}

func (f *free) give(g *Group) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || len(f.groups) >= maxFree {
		return false
	}
	f.groups = append(f.groups, g)
	return true
}

// drain removes the free groups and accepts no more.
func (f *free) drain() error {
	f.mu.Lock()
	groups := f.groups
	f.groups, f.closed = nil, true
	f.mu.Unlock()
	var all error
	for _, g := range groups {
		all = errors.Join(all, g.Remove())
	}
	return all
}

// Retire takes a group back whose processes are dead. The next process tree reuses it only if no trace of this tree is
// left. Groups whose counters cannot be reset, or that reached a limit, are removed.
func (t *Tree) Retire(g *Group) error {
	if g.renew() && t.free.give(g) {
		return nil
	}
	return g.Remove()
}

// renew resets a group for reuse and reports whether that was possible.
func (g *Group) renew() bool {
	stats := g.Stats()
	g.uses++
	if g.uses >= maxUses || stats.Pids != 0 || stats.PidsHits > 0 || stats.OOMKills > 0 || stats.Memory > maxResidue {
		return false
	}
	g.ResetPeak()
	if g.counters.read(countPeak) > maxResidue { // this kernel cannot reset the peak
		return false
	}
	g.base += stats.CPU
	return true
}

// Descriptors opens the files by which a single-threaded process joins the group: it writes "0" into each. The server
// cannot name a process by number if it starts the process indirectly. The kernel checks the permission of the process
// that opened the files. The group keeps owning them. Moving a single thread is faster. To move all threads of a
// process, the kernel may wait until every processor has switched tasks. Every other process that joins or kills a
// group waits meanwhile.
func (g *Group) Descriptors() ([]*os.File, error) {
	if g.descriptors != nil {
		return g.descriptors, nil
	}
	var descriptors []*os.File
	file := "tasks"
	if g.v2 {
		file = "cgroup.procs"
	}
	for _, dir := range g.dirs {
		descriptor, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0)
		if err != nil {
			closeDescriptors(descriptors)
			return nil, fmt.Errorf("join control group: %w", err)
		}
		descriptors = append(descriptors, descriptor)
	}
	g.descriptors = descriptors
	return descriptors, nil
}

func closeDescriptors(descriptors []*os.File) {
	for _, descriptor := range descriptors {
		_ = descriptor.Close()
	}
}

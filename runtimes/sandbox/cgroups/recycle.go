package cgroups

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Limits for the reuse of groups. Groups are reused because creating and removing one takes longer than most programs run.
const (
	maxFree    = 64
	maxUses    = 1000
	maxResidue = 1 << 20 // bytes that the kernel may still count for an empty group, such as caches for each processor
)

// free is the list of groups that can be reused.
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

// drain removes the free groups from the host. Afterwards the list accepts no more groups.
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

// Retire makes a group of Child available for reuse. The processes of the group must be dead. If the counters of the
// group cannot be reset, or if the group reached a limit, Retire removes it instead.
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

// Descriptors opens the files through which a single-threaded process joins the group: it writes "0" into each. The server
// uses this for processes that a launcher starts, because it does not know their IDs in time. The kernel checks the
// permissions of the process that opened the files, not of the process that writes. The group closes the files.
//
// The files move a single thread, which is faster. To move all threads of a process, the kernel may wait until every
// processor has switched tasks, and it blocks every other process that joins or kills a group meanwhile.
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
			return nil, fmt.Errorf("open the files of a control group: %w", err)
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

package cgroups

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// A group takes longer to make and to remove than most programs run, so one that nothing happened in is used again.
const (
	maxFree    = 64
	maxUses    = 1000
	maxResidue = 1 << 20 // bytes that the kernel still counts for an empty group: what it keeps for each processor, and more
)

// free are groups without processes, ready for use.
type free struct {
	mu     sync.Mutex
	groups []*Group
	closed bool
}

// take answers a free group, nil if there is none.
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

// drain removes the free groups and takes no more.
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

// Retire takes a group back whose processes are dead. It goes to the next tree of processes if nothing in it tells of
// this one: counters that cannot be set back, and limits that were reached, go with the group.
func (t *Tree) Retire(g *Group) error {
	if g.renew() && t.free.give(g) {
		return nil
	}
	return g.Remove()
}

// renew makes a group as good as new and reports whether that was possible.
func (g *Group) renew() bool {
	stats := g.Stats()
	g.uses++
	if g.uses >= maxUses || stats.Pids != 0 || stats.PidsHits > 0 || stats.OOMKills > 0 || stats.Memory > maxResidue {
		return false
	}
	g.ResetPeak()
	if g.counters.read(countPeak) > maxResidue { // this kernel does not do that
		return false
	}
	g.base += stats.CPU
	return true
}

// Descriptors opens the files by which a process of one thread joins the group when it writes "0" into each: a process that we start
// indirectly cannot be named by a number. Who opened them is who is asked for permission. They stay the group's. Where a thread
// may go alone it is faster: for all threads of a process the kernel may wait until each processor has done something else,
// and everybody who joins or kills a group meanwhile waits too.
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

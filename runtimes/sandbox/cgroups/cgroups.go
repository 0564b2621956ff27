// Package cgroups limits, measures and kills process trees with control groups. It supports version 1, version 2, and
// both mounted together. It reports features that the host lacks. It is independent of jails.
package cgroups

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const prefix = "atelier-"

// Mode is the kind of control groups in use.
type Mode string

// Modes. Hybrid uses version 1 for limits, and the unified hierarchy (version 2) to kill processes.
const (
	V1     Mode = "v1"
	Hybrid Mode = "hybrid"
	V2     Mode = "v2"
	None   Mode = "none"
)

// Tree is the set of directories in which this process creates groups: one per hierarchy, below the process's own group.
type Tree struct {
	mode    Mode
	bases   map[string]string // memory, pids, cpuacct, freezer or unified → our directory
	missing []string
	next    atomic.Int64
	free    free
}

// Open finds the hierarchies, removes the groups of dead servers and creates the directories of the tree. If no hierarchy is
// usable, it returns a tree of mode None, which creates no groups. Missing then returns the reasons.
func Open() (*Tree, error) {
	all, err := detect("self")
	if err != nil {
		return nil, err
	}
	name, err := ownName()
	if err != nil {
		return nil, err
	}
	t := &Tree{mode: None, bases: map[string]string{}}
	if parents := version1(all); parents != nil {
		t.openV1(parents, all, name)
	} else {
		t.openV2(all, name)
	}
	if t.mode == None {
		t.missing = append(t.missing, unusable)
	}
	return t, nil
}

const unusable = "Control groups are not available. The server polls memory and processes every 20 ms, so a " +
	"sudden allocation can exceed the limit, and a run above its memory limit is killed as a whole."

// Unusable returns the tree of a host whose control groups cannot be used.
func Unusable() *Tree {
	return &Tree{mode: None, bases: map[string]string{}, missing: []string{unusable}}
}

// ownName returns a directory name that is unique among all trees, including those of ended processes. A process ID
// alone would not be unique, because the kernel reuses process IDs.
func ownName() (string, error) {
	started, err := startTime(os.Getpid())
	return fmt.Sprintf("%s%d-%d-%08x", prefix, os.Getpid(), started, rand.Uint32()), err
}

// version1 returns the directory of the process's own group for each usable version 1 controller. It returns nil if memory
// or pids is not usable.
func version1(all []hierarchy) map[string]string {
	parents := map[string]string{}
	for _, h := range all {
		for _, controller := range h.controllers {
			if slices.Contains([]string{"memory", "pids", "cpuacct", "freezer"}, controller) && writable(h.dir) {
				parents[controller] = h.dir
			}
		}
	}
	if parents["memory"] == "" || parents["pids"] == "" {
		return nil
	}
	return parents
}

func (t *Tree) openV1(parents map[string]string, all []hierarchy, name string) {
	t.mode = V1
	for _, h := range all {
		// Every group but the root has the file cgroup.kill, so check our own group.
		if h.unified && writable(h.dir) {
			dir := filepath.Join(h.dir, name)
			if os.Mkdir(dir, 0o755) == nil {
				if exists(filepath.Join(dir, "cgroup.kill")) {
					sweep(h.dir)
					t.mode, t.bases["unified"] = Hybrid, dir
					// The hierarchy is not needed to kill processes if cgroup.kill exists, and each hierarchy costs time.
					delete(parents, "freezer")
				} else {
					_ = os.Remove(dir)
				}
			}
		}
	}
	for controller, parent := range parents {
		sweep(parent)
		dir := filepath.Join(parent, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.missing = append(t.missing, fmt.Sprintf("The control group %s cannot be created (%v).", dir, err))
			continue
		}
		t.bases[controller] = dir
	}
	if t.bases["memory"] == "" || t.bases["pids"] == "" {
		_ = t.Close()
		t.mode = None
		return
	}
	if t.bases["cpuacct"] == "" {
		t.missing = append(t.missing, "CPU time is not counted, so CPU limits have no effect. Give the server a control group with the controller cpuacct.")
	}
}

func (t *Tree) openV2(all []hierarchy, name string) {
	at := slices.IndexFunc(all, func(h hierarchy) bool { return h.unified })
	if at < 0 || !writable(all[at].dir) {
		return
	}
	own := all[at].dir
	controllers := filepath.Join(own, "cgroup.controllers")
	if !has(controllers, "memory") || !has(controllers, "pids") {
		return
	}
	sweep(own)
	if err := delegate(own); err != nil {
		t.missing = append(t.missing, fmt.Sprintf("Control groups cannot be created (%v), because other processes share the server's group.", err))
		return
	}
	dir := filepath.Join(own, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return
	}
	if err := enable(dir); err != nil {
		_ = os.Remove(dir)
		return
	}
	t.mode, t.bases["unified"] = V2, dir
}

// delegate enables controllers in the group own, so that its children can have limits. The kernel allows this only if the
// group itself contains no process, so this process moves into a child group. If other processes remain in the group,
// delegate returns the kernel's error.
func delegate(own string) error {
	if has(filepath.Join(own, "cgroup.subtree_control"), "memory") && has(filepath.Join(own, "cgroup.subtree_control"), "pids") {
		return nil
	}
	if err := enable(own); err == nil {
		return nil
	}
	leaf := filepath.Join(own, "atelier.server")
	if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := write(leaf, "cgroup.procs", strconv.Itoa(os.Getpid())); err != nil {
		return err
	}
	return enable(own)
}

func enable(dir string) error {
	if err := write(dir, "cgroup.subtree_control", "+memory +pids"); err != nil {
		return err
	}
	_ = write(dir, "cgroup.subtree_control", "+cpu") // optional, because CPU time is counted without this controller too
	return nil
}

// Mode returns the kind of control groups in use.
func (t *Tree) Mode() Mode { return t.mode }

// Descriptors returns the number of files that Group.Descriptors opens for a group made by Child.
func (t *Tree) Descriptors() int { return len(t.limiting()) }

// limiting returns the hierarchies that a child joins. It omits hierarchies that are only used to kill processes,
// because all processes of a child die with its process 1. Joining a group of version 2 would also lock all groups of
// the host.
func (t *Tree) limiting() map[string]string {
	if t.mode == V2 {
		return t.bases
	}
	limiting := maps.Clone(t.bases)
	delete(limiting, "unified")
	delete(limiting, "freezer")
	return limiting
}

// Missing returns sentences about the features that the host does not provide.
func (t *Tree) Missing() []string { return t.missing }

// New creates a group for one process tree. It returns nil in mode None.
func (t *Tree) New() (*Group, error) { return t.group(t.bases) }

// Child returns a new or reused group for a process tree whose processes all die with its first process. It returns nil in
// mode None. The caller must pass the group to Retire.
func (t *Tree) Child() (*Group, error) {
	if g := t.free.take(); g != nil {
		return g, nil
	}
	return t.group(t.limiting())
}

func (t *Tree) group(bases map[string]string) (*Group, error) {
	if t.mode == None {
		return nil, nil
	}
	dirs := map[string]string{}
	leaf := "j" + strconv.FormatInt(t.next.Add(1), 10)
	for controller, base := range bases {
		dir := filepath.Join(base, leaf)
		if err := os.Mkdir(dir, 0o755); err != nil {
			_ = newGroup(t.mode == V2, dirs).Remove()
			return nil, fmt.Errorf("make control group: %w", err)
		}
		dirs[controller] = dir
	}
	return newGroup(t.mode == V2, dirs), nil
}

// Close removes the directories of the tree. All groups must have been retired or removed before.
func (t *Tree) Close() error {
	all := t.free.drain()
	for _, base := range t.bases {
		if err := os.Remove(base); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}

// sweep removes the directories of dead servers and kills the processes that are left in them.
func sweep(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, entry := range entries {
		var pid int
		var started uint64
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), prefix) {
			continue
		}
		if _, err := fmt.Sscanf(entry.Name(), prefix+"%d-%d-", &pid, &started); err != nil {
			continue
		}
		if now, err := startTime(pid); err == nil && now == started {
			continue
		}
		base := filepath.Join(parent, entry.Name())
		leaves, _ := os.ReadDir(base)
		for _, leaf := range leaves {
			if leaf.IsDir() {
				dir := filepath.Join(base, leaf.Name())
				killMembers(dir)
				_ = removeEmpty(dir, time.Now().Add(removeWait))
			}
		}
		_ = os.Remove(base)
	}
}

// startTime returns the start time of a process, in ticks since boot. It is field 22 of the stat file. Fields are counted
// from the end of the process name, because the name may contain spaces and parentheses.
func startTime(pid int) (uint64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 20 {
		return 0, fmt.Errorf("/proc/%d/stat has an unknown format", pid)
	}
	return strconv.ParseUint(fields[19], 10, 64)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// write writes text to an existing control file in one system call.
func write(dir, file, text string) error {
	if dir == "" {
		return fs.ErrNotExist
	}
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

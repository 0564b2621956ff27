// Package cgroups limits, measures and kills process trees with control groups, of version 1, version 2 or both mounted
// at once. It reports restrictions of the host. It does not know jails.
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

// Modes. Hybrid uses version 1 for limits and the unified tree for killing.
const (
	V1     Mode = "v1"
	Hybrid Mode = "hybrid"
	V2     Mode = "v2"
	None   Mode = "none"
)

// Tree holds this process's directories for groups: one per hierarchy, beneath the process's own group.
type Tree struct {
	mode    Mode
	bases   map[string]string // memory, pids, cpuacct, freezer or unified → our directory
	missing []string
	next    atomic.Int64
	free    free
}

// Open finds the hierarchies, removes the groups of dead servers and makes our directories. Without any usable
// hierarchy it returns a tree of mode None. Such a tree makes no groups and holds the reasons in Missing.
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

// ownName returns a name that is unique among all trees, past and present. Process numbers alone are reused.
func ownName() (string, error) {
	started, err := startTime(os.Getpid())
	return fmt.Sprintf("%s%d-%d-%08x", prefix, os.Getpid(), started, rand.Uint32()), err
}

// version1 returns our directory of each controller that limits need, or nil if version 1 lacks one of them.
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
		// Every group but the root has the kill file, so check a group of ours.
		if h.unified && writable(h.dir) {
			dir := filepath.Join(h.dir, name)
			if os.Mkdir(dir, 0o755) == nil {
				if exists(filepath.Join(dir, "cgroup.kill")) {
					sweep(h.dir)
					t.mode, t.bases["unified"] = Hybrid, dir
					delete(parents, "freezer") // freezing is the slow way to kill, and each hierarchy has a cost
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

// delegate turns own into a group that may have limited children. Such a group may hold no process itself, so this
// process moves into a leaf. If the group holds other processes, the kernel returns an error, and delegate returns it.
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
	_ = write(dir, "cgroup.subtree_control", "+cpu") // counting works without it
	return nil
}

// Mode returns the kind of control groups in use.
func (t *Tree) Mode() Mode { return t.mode }

// Descriptors returns the number of files that Group.Descriptors opens, for a group of a child.
func (t *Tree) Descriptors() int { return len(t.limiting()) }

// limiting returns the hierarchies that a child needs. A child dies with its process 1, so hierarchies that only serve
// for killing are of no use to it. Joining a group of version 2 also takes a lock on all groups.
func (t *Tree) limiting() map[string]string {
	if t.mode == V2 {
		return t.bases
	}
	limiting := maps.Clone(t.bases)
	delete(limiting, "unified")
	delete(limiting, "freezer")
	return limiting
}

// Missing returns sentences about the features that the host does not permit.
func (t *Tree) Missing() []string { return t.missing }

// New makes a group for one process tree, nil in mode None.
func (t *Tree) New() (*Group, error) { return t.group(t.bases) }

// Child returns a group for processes that die with the first of them. The group is new or reused, nil in mode None.
// Retire returns it.
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

// Close removes our directories. All groups must have been retired or removed before.
func (t *Tree) Close() error {
	all := t.free.drain()
	for _, base := range t.bases {
		if err := os.Remove(base); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}

// sweep removes the directories of dead servers, and kills processes left in them.
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

// startTime returns the start time of a process, in ticks since boot. It is field 22 of the stat file, counted after
// the name, which may hold any characters.
func startTime(pid int) (uint64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 20 {
		return 0, fmt.Errorf("unreadable /proc/%d/stat", pid)
	}
	return strconv.ParseUint(fields[19], 10, 64)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// write writes text to a control file in one call and never creates the file.
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

package cgroups

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// files creates a directory with files to simulate a group.
func files(t *testing.T, all map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestUnwillingTrees simulates hierarchies in which one operation fails. The tree must then have mode None and a reason in
// Missing, and no directory may be left.
func TestUnwillingTrees(t *testing.T) {
	t.Parallel()
	const name = "atelier-1-2-x"
	taken := files(t, map[string]string{"cgroup.controllers": "memory pids", "cgroup.subtree_control": "memory pids"})
	if err := os.Mkdir(filepath.Join(taken, name), 0o755); err != nil {
		t.Fatal(err)
	}
	shared := files(t, map[string]string{"cgroup.controllers": "memory pids"})
	if err := os.Mkdir(filepath.Join(shared, "atelier.server"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		open   func(*Tree)
		leaves string // a directory that must stay unchanged
		told   int
	}{
		"no unified hierarchy":      {func(tree *Tree) { tree.openV2(nil, name) }, "", 0},
		"no controllers":            {func(tree *Tree) { tree.openV2([]hierarchy{{unified: true, dir: files(t, nil)}}, name) }, "", 0},
		"not delegated":             {func(tree *Tree) { tree.openV2([]hierarchy{{unified: true, dir: shared}}, name) }, "", 1},
		"the name is taken":         {func(tree *Tree) { tree.openV2([]hierarchy{{unified: true, dir: taken}}, name) }, "", 0},
		"parents that are not":      {func(tree *Tree) { tree.openV1(map[string]string{"memory": "/nowhere", "pids": "/nowhere"}, nil, name) }, "", 2},
		"unified without its files": {func(tree *Tree) { tree.openV1(nil, []hierarchy{{unified: true, dir: shared}}, name) }, filepath.Join(shared, name), 0},
	}
	for what, tt := range tests {
		t.Run(what, func(t *testing.T) {
			tree := &Tree{mode: None, bases: map[string]string{}}
			tt.open(tree)
			if group, err := tree.New(); tree.Mode() != None || group != nil || err != nil || len(tree.Missing()) != tt.told {
				t.Errorf("mode %s, %v, %v, %q", tree.Mode(), group, err, tree.Missing())
			}
			if tt.leaves != "" && exists(tt.leaves) {
				t.Errorf("%s is left", tt.leaves)
			}
		})
	}
	if version1([]hierarchy{{controllers: []string{"cpu"}, dir: shared}}) != nil {
		t.Error("memory limits without the memory controller")
	}
}

// TestUnwillingGroups checks that an operation that fails on the files of a group returns an error.
func TestUnwillingGroups(t *testing.T) {
	t.Parallel()
	tree := &Tree{mode: V2, bases: map[string]string{"unified": filepath.Join(t.TempDir(), "gone")}}
	if group, err := tree.New(); err == nil {
		t.Errorf("a group in a missing directory: %v", group)
	}
	full := files(t, map[string]string{"x": ""})
	if err := (&Tree{mode: V2, bases: map[string]string{"unified": full}}).Close(); err == nil {
		t.Error("a tree that is not empty was closed")
	}
	for name, dir := range map[string]string{
		"nothing there": t.TempDir(), "memory cannot be limited": files(t, map[string]string{"pids.max": ""}),
		"not a number": files(t, map[string]string{"pids.max": "", "memory.current": "many", "memory.peak": "x", "cpu.stat": "usage_usec", "memory.events": "oom_kill x\n"}),
	} {
		group := newGroup(true, map[string]string{"unified": dir})
		if err := group.Join(os.Getpid()); err == nil {
			t.Errorf("%s: joined", name)
		}
		if err := group.Limit(1<<20, 9); err == nil {
			t.Errorf("%s: limited", name)
		}
		if stats := group.Stats(); stats != (Stats{}) {
			t.Errorf("%s: %+v", name, stats)
		}
	}
	if err := ignoreMissing(os.ErrPermission); err == nil {
		t.Error("ignoreMissing ignored another error")
	}
	if err := write("", "x", "y"); err == nil {
		t.Error("write to a missing directory succeeded")
	}
}

// TestPeakOfVersion2 checks that ResetPeak writes to the descriptor from which the peak is read, as Linux 6.12 requires, and
// that the peak can still be read if the kernel does not support this.
func TestPeakOfVersion2(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"memory.peak": "8192\n"})
	group := newGroup(true, map[string]string{"unified": dir})
	group.ResetPeak()
	if peak := group.Stats().Peak; peak != 192 { // "0" was written over the first digit
		t.Errorf("peak is %d", peak)
	}
	if err := os.Remove(filepath.Join(dir, "memory.peak")); err != nil {
		t.Fatal(err)
	}
	if err := group.Remove(); err != nil || exists(dir) {
		t.Errorf("the group is left: %v", err)
	}
	group.ResetPeak() // nothing left to reset
	older := t.TempDir()
	if err := os.Symlink("/proc/sys/kernel/ngroups_max", filepath.Join(older, "memory.peak")); err != nil {
		t.Fatal(err)
	}
	refused := newGroup(true, map[string]string{"unified": older})
	refused.ResetPeak()
	if peak := refused.Stats().Peak; peak != 65536 {
		t.Errorf("a peak that cannot be reset is read as %d", peak)
	}
	if err := refused.Remove(); err == nil {
		t.Error("a directory that contains a link was removed")
	}
	if peak := refused.Stats().Peak; peak != 0 {
		t.Errorf("the peak of a removed group is %d", peak)
	}
	if err := removeEmpty(files(t, map[string]string{"x": ""}), time.Now()); err == nil {
		t.Error("a directory that is not empty was removed")
	}
}

func TestGroupsOfAProcess(t *testing.T) {
	t.Parallel()
	if dirs, err := Of(os.Getpid()); err != nil || len(dirs) == 0 {
		t.Skipf("this host has no control groups: %v", err)
	}
	if dirs, err := Of(1 << 30); err == nil {
		t.Errorf("a process that does not exist has groups: %q", dirs)
	}
	if _, err := startTime(1 << 30); err == nil {
		t.Error("process " + strconv.Itoa(1<<30) + " has a start time")
	}
}

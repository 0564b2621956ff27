package cgroups

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestVersion1Alone uses only the version 1 hierarchies of this host. Kill must then freeze the group first.
func TestVersion1Alone(t *testing.T) {
	t.Parallel()
	all, err := detect("self")
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(h hierarchy) bool { return h.unified })
	parents := version1(all)
	if parents == nil || parents["freezer"] == "" {
		t.Skip("this host has no control groups of version 1 for us")
	}
	name, err := ownName()
	if err != nil {
		t.Fatal(err)
	}
	tree := &Tree{mode: None, bases: map[string]string{}}
	tree.openV1(parents, all, name)
	if tree.Mode() != V1 || len(tree.Missing()) > 0 {
		t.Fatalf("mode %s, %q", tree.Mode(), tree.Missing())
	}
	group, err := tree.New()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/bash", "-c", "read; while :; do sleep 60 & sleep 0.01; done")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := group.Join(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	for group.Stats().Pids < 5 {
		time.Sleep(time.Millisecond)
	}
	group.Kill()
	_ = cmd.Wait()
	if err := group.Remove(); err != nil {
		t.Error(err)
	}
	if err := tree.Close(); err != nil {
		t.Error(err)
	}
}

// TestVersion1WithoutTime checks that Missing reports the limits that version 1 cannot enforce without the cpuacct
// controller.
func TestVersion1WithoutTime(t *testing.T) {
	t.Parallel()
	all, err := detect("self")
	if err != nil {
		t.Fatal(err)
	}
	parents := version1(all)
	if parents == nil {
		t.Skip("this host has no control groups of version 1 for us")
	}
	name, err := ownName()
	if err != nil {
		t.Fatal(err)
	}
	delete(parents, "cpuacct")
	tree := &Tree{mode: None, bases: map[string]string{}}
	tree.openV1(parents, nil, name)
	if missing := tree.Missing(); tree.Mode() != V1 || len(missing) != 1 || !strings.Contains(missing[0], "cpuacct") {
		t.Errorf("mode %s, %q", tree.Mode(), missing)
	}
	if err := tree.Close(); err != nil {
		t.Error(err)
	}
}

// TestVersion2Files simulates a kernel with version 2 only, which this machine may not have. The files have the names
// and formats that the kernel documents.
func TestVersion2Files(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"memory.max": "max\n", "memory.swap.max": "max\n", "pids.max": "max\n", "memory.current": "4096\n", "memory.peak": "8192\n",
		"memory.events": "low 0\nhigh 0\nmax 3\noom 1\noom_kill 2\noom_group_kill 0\n", "pids.current": "7\n", "pids.events": "max 5\n",
		"cpu.stat": "usage_usec 1500\nuser_usec 1000\nsystem_usec 500\n", "cgroup.kill": "", "cgroup.procs": "",
	} {
		put(name, text)
	}
	group := newGroup(true, map[string]string{"unified": dir})
	if err := group.Join(42); err != nil {
		t.Fatal(err)
	}
	if err := group.Limit(1<<20, 9); err != nil {
		t.Fatal(err)
	}
	if err := group.Limit(4095, 9); err == nil {
		t.Error("a limit below the current usage was set, and the kernel would kill processes")
	}
	want := Stats{CPU: 1500 * time.Microsecond, Memory: 4096, Peak: 8192, OOMKills: 2, LimitHits: 1, Pids: 7, PidsHits: 5}
	if diff := cmp.Diff(want, group.Stats()); diff != "" {
		t.Error(diff)
	}
	group.Kill()
	for name, want := range map[string]string{"cgroup.procs": "42", "memory.max": "1048576", "memory.swap.max": "0", "pids.max": "9", "cgroup.kill": "1"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || len(text) == 0 || string(text[:len(want)]) != want {
			t.Errorf("%s contains %q, %v, want prefix %q", name, text, err, want)
		}
	}
}

// TestDivide checks delegate on a simulated version 2 group. A directory without control files must not be used as a tree.
func TestDivide(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"cgroup.subtree_control": "", "cgroup.controllers": "cpu memory pids\n", "cgroup.procs": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := delegate(dir); err != nil {
		t.Fatal(err)
	}
	if !has(filepath.Join(dir, "cgroup.controllers"), "memory") || has(filepath.Join(dir, "cgroup.controllers"), "io") {
		t.Error("has returned a wrong result for controllers")
	}
	tree := &Tree{mode: None, bases: map[string]string{}}
	tree.openV2([]hierarchy{{unified: true, dir: dir}}, "atelier-1-2-x")
	if tree.Mode() != None {
		t.Error("a directory without control files was accepted as a group")
	}
	entries, err := filepath.Glob(filepath.Join(dir, "atelier-*"))
	if err != nil || len(entries) > 0 {
		t.Errorf("%v is left, %v", entries, err)
	}
}

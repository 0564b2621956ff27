package cgroups_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/runtimes/sandbox/cgroups"
)

func open(t *testing.T) *cgroups.Tree {
	t.Helper()
	tree, err := cgroups.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tree.Close(); err != nil {
			t.Error(err)
		}
	})
	if tree.Mode() == cgroups.None {
		if group, err := tree.New(); group != nil || err != nil || len(tree.Missing()) == 0 {
			t.Errorf("without control groups: %v, %v, %q", group, err, tree.Missing())
		}
		t.Skip("this host gives us no control groups")
	}
	return tree
}

// start runs a script in a shell that first waits until it was moved into the group.
func start(t *testing.T, group *cgroups.Group, script string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/bin/bash", "-c", "read; "+script)
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
	if _, err := in.Write([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func TestGroup(t *testing.T) {
	t.Parallel()
	tree := open(t)
	group, err := tree.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, megabytes := range []int64{32, 256, 64} { // down after up: the order of the two limits matters
		if err := group.Limit(megabytes<<20, 10); err != nil {
			t.Fatal(err)
		}
	}
	cmd := start(t, group, "x=$(head -c 20M /dev/zero | tr '\\0' x); for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 30 & done; wait")
	for group.Stats().PidsHits == 0 {
		time.Sleep(time.Millisecond)
	}
	stats := group.Stats()
	if stats.PidsHits == 0 || stats.Pids == 0 || stats.CPU == 0 || stats.Peak < 20<<20 || stats.OOMKills != 0 {
		t.Errorf("%+v", stats)
	}
	group.ResetPeak()
	if err := group.Remove(); err == nil {
		t.Error("a group with members was removed")
	}
	group.Kill()
	_ = cmd.Wait()
	if err := group.Remove(); err != nil {
		t.Error(err)
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	group, err := open(t).New()
	if err != nil {
		t.Fatal(err)
	}
	if err := group.Limit(16<<20, 10); err != nil {
		t.Fatal(err)
	}
	cmd := start(t, group, "tail -c 100M /dev/zero | head -c 1 >/dev/null; x=$(head -c 90M /dev/zero | tr '\\0' x)")
	_ = cmd.Wait()
	if stats := group.Stats(); stats.OOMKills == 0 {
		t.Errorf("%+v", stats)
	}
	group.Kill()
	if err := group.Remove(); err != nil {
		t.Error(err)
	}
}

// TestSweep checks that Open removes the groups of a dead server and kills their processes, but not those of a live server.
func TestSweep(t *testing.T) {
	t.Parallel()
	group, err := open(t).New()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := group.Remove(); err != nil {
			t.Error(err)
		}
	}()
	dead := exec.Command("/bin/true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	var stale []string
	for _, dir := range group.Dirs() {
		parent := filepath.Dir(filepath.Dir(dir))
		base := filepath.Join(parent, "atelier-"+strconv.Itoa(dead.Process.Pid)+"-1-cafe")
		if err := os.MkdirAll(filepath.Join(base, "j1"), 0o755); err != nil {
			t.Fatal(err)
		}
		stale = append(stale, base)
	}
	member := exec.Command("/bin/sleep", "60")
	member.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := member.Start(); err != nil {
		t.Fatal(err)
	}
	for _, base := range stale {
		err := os.WriteFile(filepath.Join(base, "j1", "cgroup.procs"), []byte(strconv.Itoa(member.Process.Pid)), 0)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENODEV) {
			_ = member.Process.Kill() // Open in another test has removed the group first
		} else if err != nil {
			t.Fatal(err)
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- member.Wait() }()
	open(t)
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the process of a dead server ended with %v", err)
	}
	open(t)
	for _, base := range stale {
		if _, err := os.Lstat(base); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", base, err)
		}
	}
	for _, dir := range group.Dirs() {
		if _, err := os.Lstat(dir); err != nil {
			t.Errorf("the group of a live server: %v", err)
		}
	}
}

// TestChild checks that a group for a child counts processes that join through its descriptors. The group must not exist
// in a hierarchy that is only used to kill processes.
func TestChild(t *testing.T) {
	t.Parallel()
	tree := open(t)
	group, err := tree.Child()
	if err != nil {
		t.Fatal(err)
	}
	descriptors, err := group.Descriptors()
	if err != nil || len(descriptors) != tree.Descriptors() || len(descriptors) != len(group.Dirs()) {
		t.Fatalf("%d descriptors, but the tree reported %d, of %q, %v", len(descriptors), tree.Descriptors(), group.Dirs(), err)
	}
	for _, dir := range group.Dirs() {
		if tree.Mode() != cgroups.V2 && (strings.Contains(dir, "unified") || strings.Contains(dir, "freezer")) {
			t.Errorf("the group exists in %s", dir)
		}
	}
	cmd := exec.Command("/bin/bash", "-c", "for fd in \"$@\"; do echo 0 >&$fd || exit 9; done; for ((i = 0; i < 20000; i++)); do :; done; echo in; read", "cell")
	for i, descriptor := range descriptors {
		cmd.ExtraFiles = append(cmd.ExtraFiles, descriptor)
		cmd.Args = append(cmd.Args, strconv.Itoa(3+i))
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Errorf("the process did not join the group: %v", err)
	}
	if stats := group.Stats(); stats.CPU == 0 || stats.Pids != 1 || stats.Memory == 0 {
		t.Errorf("%+v", stats)
	}
	_ = in.Close()
	_ = cmd.Wait()
	if err := tree.Retire(group); err != nil {
		t.Error(err)
	}
}

// TestRetire checks that a group is reused with reset counters, but not if it reached a limit or still has processes.
func TestRetire(t *testing.T) {
	t.Parallel()
	tree := open(t)
	use := func(script string, pids int64) (*cgroups.Group, []string) {
		t.Helper()
		group, err := tree.Child()
		if err != nil {
			t.Fatal(err)
		}
		if stats := group.Stats(); stats.CPU != 0 || stats.Pids != 0 || stats.PidsHits != 0 || stats.OOMKills != 0 || stats.Peak > 1<<20 {
			t.Errorf("a new group has %+v", stats)
		}
		if err := group.Limit(64<<20, pids); err != nil {
			t.Fatal(err)
		}
		if err := start(t, group, script).Wait(); err != nil {
			t.Log(err)
		}
		return group, group.Dirs()
	}
	quiet, first := use("for ((i = 0; i < 20000; i++)); do :; done", 10)
	if quiet.Stats().CPU == 0 {
		t.Error("no time was counted")
	}
	if err := tree.Retire(quiet); err != nil {
		t.Fatal(err)
	}
	greedy, second := use("for i in 1 2 3 4 5 6 7 8; do sleep 0.01 & done 2>/dev/null; wait", 4)
	if diff := cmp.Diff(first, second); diff != "" && tree.Mode() != cgroups.V2 { // where the peak cannot be reset
		t.Errorf("a clean group was not reused: %s", diff)
	}
	greedy.Kill()
	if err := tree.Retire(greedy); err != nil {
		t.Fatal(err)
	}
	last, third := use(":", 10)
	if diff := cmp.Diff(second, third); diff == "" {
		t.Error("a group whose limit was reached was reused")
	}
	if err := tree.Retire(last); err != nil {
		t.Fatal(err)
	}
}

package hostile_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// remainsTimeout is the maximum time in which processes, cgroups and keys of an ended run must disappear. It allows for
// a very busy machine. Anything that a hostile program leaves on purpose would not disappear at all.
const remainsTimeout = 15 * time.Second

// keptGroups is the maximum number of empty cgroups that the server keeps for later runs: one per hierarchy and
// concurrent sandbox.
const keptGroups = 4 * 24

// noRemains checks that an attack has left nothing on the host. Only waiting workers may have processes, cgroups and
// kernel keys of the server's users. Up to keptGroups empty cgroups may exist.
func (h *server) noRemains(t *testing.T) {
	t.Helper()
	var left []string
	groups := empty()
	for deadline := time.Now().Add(remainsTimeout); time.Now().Before(deadline); <-time.After(10 * time.Millisecond) {
		left = h.remains()
		if len(groups) > 0 { // a cgroup is empty for a moment when its sandbox starts or ends
			now := empty()
			groups = slices.DeleteFunc(groups, func(dir string) bool { return !slices.Contains(now, dir) })
		}
		if len(groups) > keptGroups {
			left = append(left, fmt.Sprintf("%d empty control groups", len(groups)))
		}
		if len(left) == 0 {
			return
		}
	}
	for _, what := range left {
		t.Errorf("left: %s", what)
		matrix.Survivor(t.Name() + ": " + what)
	}
}

func (h *server) remains() []string {
	var left []string
	jails := h.jails()
	if len(jails) > h.waiting {
		left = append(left, fmt.Sprintf("%d jails, where %d wait", len(jails), h.waiting))
	}
	for uid, processes := range jails {
		if len(processes) > h.each {
			left = append(left, fmt.Sprintf("user %d has %v", uid, processes))
		}
	}
	for uid := range h.keys() {
		if _, alive := jails[uid]; !alive {
			left = append(left, fmt.Sprintf("keys of user %d", uid))
		}
	}
	return left
}

// gone checks that nothing remains after the engine and its sandbox are closed.
func (h *server) gone(t *testing.T) {
	t.Helper()
	h.waiting = 0
	h.noRemains(t)
	for _, what := range h.files() {
		t.Errorf("left: %s", what)
		matrix.Survivor(t.Name() + ": " + what)
	}
}

// ours reports whether a host user belongs to the server. Sandboxes have users of their own only if the test runs as
// root.
func (h *server) ours(uid int) bool {
	return os.Geteuid() == 0 && uid >= h.firstUID && uid < h.firstUID+users
}

// jails returns the processes of each of the server's users. Each user has one sandbox.
func (h *server) jails() map[int][]string {
	found := map[int][]string{}
	if os.Geteuid() != 0 { // all sandboxes of this process belong to this server, because servers run one after another
		for i, what := range strangers() {
			found[-i/h.each] = append(found[-i/h.each], what)
		}
		return found
	}
	for _, p := range processes() {
		if h.ours(p.uid) && p.state != "Z" {
			found[p.uid] = append(found[p.uid], p.String())
		}
	}
	return found
}

// keys returns the users of the server that own kernel keys. No network or mount namespace isolates keys.
func (h *server) keys() map[int]bool {
	found := map[int]bool{}
	text, _ := os.ReadFile("/proc/key-users")
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(strings.Replace(line, ":", " ", 1))
		if len(fields) < 3 {
			continue
		}
		uid, err := strconv.Atoi(fields[0])
		if err == nil && h.ours(uid) && !strings.HasPrefix(fields[2], "0/") {
			found[uid] = true
		}
	}
	return found
}

// files returns the files of the server's users in world-writable places, and System V objects.
func (h *server) files() []string {
	var found []string
	for _, root := range []string{"/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock"} {
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // files of other programs may disappear at any time
			}
			info, err := entry.Info()
			if err != nil {
				return nil //nolint:nilerr // the same
			}
			if stat, ok := info.Sys().(*syscall.Stat_t); ok && h.ours(int(stat.Uid)) {
				found = append(found, "file "+path)
			}
			if entry.IsDir() && strings.Count(path, "/") > 3 {
				return filepath.SkipDir
			}
			return nil
		})
	}
	for _, kind := range []string{"shm", "sem", "msg"} {
		text, _ := os.ReadFile("/proc/sysvipc/" + kind)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		column := slices.Index(strings.Fields(lines[0]), "uid")
		for _, line := range lines[1:] {
			fields := strings.Fields(line)
			if column < 0 || column >= len(fields) {
				continue
			}
			if uid, err := strconv.Atoi(fields[column]); err == nil && h.ours(uid) {
				found = append(found, "System V "+kind+" "+line)
			}
		}
	}
	return found
}

type process struct {
	pid, ppid, uid int
	name, state    string
	nested         bool // the process also has an ID in another PID namespace
}

func (p process) String() string { return fmt.Sprintf("process %d (%s, %s)", p.pid, p.name, p.state) }

func processes() []process {
	var all []process
	paths, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}
		var p process
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(line, ":")
			fields := strings.Fields(value)
			if len(fields) == 0 {
				continue
			}
			switch name {
			case "Name":
				p.name = fields[0]
			case "State":
				p.state = fields[0]
			case "Pid":
				p.pid, _ = strconv.Atoi(fields[0])
			case "PPid":
				p.ppid, _ = strconv.Atoi(fields[0])
			case "Uid":
				p.uid, _ = strconv.Atoi(fields[0])
			case "NSpid":
				p.nested = len(fields) > 1
			}
		}
		all = append(all, p)
	}
	return all
}

// strangers returns the descendants of this process in other namespaces, and the mounts of sandboxes that are visible
// on the host. There must be none after all sandboxes are closed.
func strangers() []string {
	var found []string
	parents := map[int]int{}
	all := processes()
	for _, p := range all {
		parents[p.pid] = p.ppid
	}
	for _, p := range all {
		pid := p.ppid
		for pid > 1 && pid != os.Getpid() {
			pid = parents[pid]
		}
		if pid == os.Getpid() && p.nested && p.state != "Z" {
			found = append(found, p.String())
		}
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, " - tmpfs sandbox ") {
			found = append(found, "mount "+strings.TrimSpace(line))
		}
	}
	return found
}

// groupsOf returns the cgroups that the server process with this ID has created and not removed.
func groupsOf(pid int) []string {
	var found []string
	roots := map[string]bool{"/sys/fs/cgroup": true}
	text, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		controllers := strings.TrimPrefix(parts[1], "name=")
		if controllers == "" {
			roots["/sys/fs/cgroup"+parts[2]], roots["/sys/fs/cgroup/unified"+parts[2]] = true, true
		}
		roots["/sys/fs/cgroup/"+controllers+parts[2]] = true
	}
	for root := range roots {
		for dir := root; strings.HasPrefix(dir, "/sys/fs/cgroup"); dir = filepath.Dir(dir) {
			groups, _ := filepath.Glob(filepath.Join(dir, fmt.Sprintf("atelier-%d-*", pid)))
			found = append(found, groups...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// empty returns the cgroups of this process that contain no process.
func empty() []string {
	var found []string
	for _, tree := range groupsOf(os.Getpid()) {
		entries, _ := os.ReadDir(tree)
		for _, entry := range entries {
			if !entry.IsDir() {
				continue
			}
			members, err := os.ReadFile(filepath.Join(tree, entry.Name(), "cgroup.procs"))
			if err == nil && len(members) == 0 {
				found = append(found, filepath.Join(tree, entry.Name()))
			}
		}
	}
	return found
}

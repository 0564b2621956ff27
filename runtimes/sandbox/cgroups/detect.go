package cgroups

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// hierarchy is one mounted hierarchy of control groups. It contains the process's own group.
type hierarchy struct {
	controllers []string // controllers of version 1; empty for the unified tree
	unified     bool
	dir         string // directory of our own group, below the mount point
}

// hierarchies returns the mounted hierarchies. groups and mounts are the contents of /proc/self/cgroup and
// /proc/self/mountinfo.
func hierarchies(groups, mounts io.Reader) ([]hierarchy, error) {
	own, err := ownPaths(groups)
	if err != nil {
		return nil, err
	}
	var found []hierarchy
	lines := bufio.NewScanner(mounts)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		m, ok := parseMount(lines.Text())
		if !ok || m.kind != "cgroup" && m.kind != "cgroup2" {
			continue
		}
		h := hierarchy{unified: m.kind == "cgroup2"}
		key := ""
		if !h.unified {
			h.controllers = m.options
			key = ownKey(own, m.options)
		}
		path, ok := own[key]
		if !ok || strings.Contains(path, "/..") {
			continue
		}
		// In a container, the mount point shows only a subtree, but the path in /proc/self/cgroup starts at the root.
		if m.root != "/" {
			path = strings.TrimPrefix(path, m.root)
		}
		h.dir = filepath.Join(m.point, path)
		found = append(found, h)
	}
	return found, lines.Err()
}

// ownPaths maps the controllers of each line of /proc/self/cgroup ("" for the unified hierarchy) to the path of the
// process's group.
func ownPaths(groups io.Reader) (map[string]string, error) {
	own := map[string]string{}
	lines := bufio.NewScanner(groups)
	for lines.Scan() {
		parts := strings.SplitN(lines.Text(), ":", 3)
		if len(parts) != 3 {
			return nil, fmt.Errorf("unknown format of line %q in /proc/self/cgroup", lines.Text())
		}
		own[parts[1]] = parts[2]
	}
	return own, lines.Err()
}

// ownKey returns the key of own whose controllers all occur in the mount options.
func ownKey(own map[string]string, options []string) string {
	for key := range own {
		names := strings.Split(key, ",")
		if key != "" && !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(options, name) }) {
			return key
		}
	}
	return "none"
}

type mount struct {
	root, point, kind string
	options           []string // options of the file system
}

// parseMount reads "36 35 98:0 /root /point rw shared:1 - kind source options".
func parseMount(line string) (mount, bool) {
	left, right, ok := strings.Cut(line, " - ")
	before, after := strings.Fields(left), strings.Fields(right)
	if !ok || len(before) < 6 || len(after) < 3 {
		return mount{}, false
	}
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	return mount{
		root:    unescape.Replace(before[3]),
		point:   unescape.Replace(before[4]),
		kind:    after[0],
		options: strings.Split(after[2], ","),
	}, true
}

// Of returns the directories of all control groups that a process is in.
func Of(pid int) ([]string, error) {
	all, err := detect(strconv.Itoa(pid))
	if err != nil {
		return nil, err
	}
	dirs := make([]string, 0, len(all))
	for _, h := range all {
		dirs = append(dirs, h.dir)
	}
	return dirs, nil
}

// detect returns the hierarchies of a process, from its own groups and from the mounts of this process.
func detect(process string) ([]hierarchy, error) {
	groups, err := os.Open(filepath.Join("/proc", process, "cgroup"))
	if err != nil {
		return nil, fmt.Errorf("find the control group: %w", err)
	}
	defer groups.Close()
	mounts, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("find mounted control groups: %w", err)
	}
	defer mounts.Close()
	return hierarchies(groups, mounts)
}

// writable reports whether this process may create groups in dir.
func writable(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }

// has reports whether a file contains a word. Words in the file are separated by spaces.
func has(file, word string) bool {
	text, err := os.ReadFile(file)
	return err == nil && slices.Contains(strings.Fields(string(text)), word)
}

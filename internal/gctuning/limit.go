package gctuning

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Limit returns the memory limit in bytes of this process's control group, 0 if there is none.
func Limit() int64 {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	return limitOf(string(groups), "/sys/fs/cgroup")
}

// limitOf reads the limit of the process's control group below dir. In a container, the process's group is usually dir
// itself. No limit is "9223372036854771712" in version 1 of control groups and "max" in version 2.
func limitOf(groups, dir string) int64 {
	const none = 1 << 50
	for line := range strings.Lines(groups) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		files := []string{filepath.Join(dir, fields[2], "memory.max"), filepath.Join(dir, "memory.max")}
		if fields[1] == "memory" {
			files = []string{filepath.Join(dir, "memory", fields[2], "memory.limit_in_bytes"), filepath.Join(dir, "memory", "memory.limit_in_bytes")}
		} else if fields[1] != "" {
			continue
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue
			}
			if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && limit < none {
				return limit
			}
			break
		}
	}
	return 0
}

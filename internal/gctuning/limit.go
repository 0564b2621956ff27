package gctuning

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Limit returns the memory limit of this process's cgroup in bytes, or 0 if there is no limit.
func Limit() int64 {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	return limitOf(string(groups), "/sys/fs/cgroup")
}

// limitOf reads the memory limit of the process's cgroup below dir. In a container, this cgroup is usually dir itself.
// Without a limit, the file contains "9223372036854771712" in cgroup version 1 and "max" in version 2.
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

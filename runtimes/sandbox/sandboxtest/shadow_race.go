//go:build race

package sandboxtest

import (
	"os"
	"regexp"
	"strconv"

	"golang.org/x/sys/unix"
)

// shadow is a line of /proc/self/maps with memory of the race detector: what it knows of addresses is between these two.
var shadow = regexp.MustCompile(`(?m)^([23][0-9a-f]{11})-([23][0-9a-f]{11}) `)

// leaveShadow keeps what the race detector knows out of forks. A jail begins as a real fork of the test, whose child makes
// some system calls without the detector and becomes another program: a copy of three quarters of our memory for nothing.
// It only saves time, so it may fail; the detector maps more as we grow, so it is called again.
func leaveShadow() {
	maps, _ := os.ReadFile("/proc/self/maps")
	for _, found := range shadow.FindAllSubmatch(maps, -1) {
		from, _ := strconv.ParseUint(string(found[1]), 16, 64)
		to, _ := strconv.ParseUint(string(found[2]), 16, 64)
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(from), uintptr(to-from), unix.MADV_DONTFORK)
	}
}

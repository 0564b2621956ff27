package load

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ticks is USER_HZ, the number of clock ticks per second in the times of /proc. On Linux it is always 100.
const ticks = 100

// Tree describes the resources of a process and its descendants.
type Tree struct {
	Pids []int
	CPU  time.Duration // also counts child processes that have ended and were waited for
	PSS  int64         // proportional set size in bytes, which counts shared pages once
}

// LookAt reads the resources of a process and its descendants. It omits processes that end in the meantime.
func LookAt(pid int) Tree {
	t := family(pid)
	for _, pid := range t.Pids {
		t.PSS += PSS(pid)
	}
	return t
}

// family is like LookAt, but omits the memory, because reading it is slow.
func family(pid int) Tree {
	children, cpu := processes()
	t := Tree{Pids: []int{pid}}
	for i := 0; i < len(t.Pids); i++ {
		t.Pids = append(t.Pids, children[t.Pids[i]]...)
	}
	for _, pid := range t.Pids {
		t.CPU += cpu[pid]
	}
	return t
}

// Watch measures the CPU time of this process and its descendants until the returned function is called. It reads the
// times twice per second. A browser exits without waiting for its child processes, and then their CPU time is lost.
func Watch() func() time.Duration {
	stop, measured := make(chan struct{}), make(chan time.Duration)
	go func() {
		var spent time.Duration
		last := family(os.Getpid()).CPU
		look := func() {
			now := family(os.Getpid()).CPU
			spent += max(0, now-last)
			last = now
		}
		turns := time.NewTicker(500 * time.Millisecond)
		defer turns.Stop()
		for {
			select {
			case <-turns.C:
				look()
			case <-stop:
				look()
				measured <- spent
				return
			}
		}
	}()
	return func() time.Duration {
		close(stop)
		return <-measured
	}
}

// Born returns a value that distinguishes a process from a later process with the same ID. It returns "" if the process
// does not exist. A zombie counts as ended.
func Born(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 20 || fields[0] == "Z" {
		return ""
	}
	return fields[19]
}

// Parent returns the process ID of a process's parent, or 0 if the process has ended.
func Parent(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // the process may have ended
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1]) // this field is always a number
	return parent
}

// processes reads /proc. It returns the children of each process, and the CPU time of each process including its ended
// children.
func processes() (children map[int][]int, cpu map[int]time.Duration) {
	children, cpu = map[int][]int{}, map[int]time.Duration{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		_, rest, _ := strings.Cut(string(text), ") ") // the command name before this position may contain any character
		fields := strings.Fields(rest)
		if len(fields) < 15 {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], pid)
		for _, field := range fields[11:15] {
			n, _ := strconv.Atoi(field)
			cpu[pid] += time.Duration(n) * time.Second / ticks
		}
	}
	return children, cpu
}

// PSS returns a process's proportional share of memory in bytes.
func PSS(pid int) int64 { return field(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss:") }

// field returns the number in a line of the form "Name:   123 kB".
func field(path, name string) int64 {
	file, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	text := bufio.NewScanner(file)
	for text.Scan() {
		if fields := strings.Fields(text.Text()); len(fields) > 1 && fields[0] == name {
			kilobytes, _ := strconv.ParseInt(fields[1], 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}

// Busy returns the total non-idle time of all processors.
func Busy() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	var busy time.Duration
	for i, field := range strings.Fields(line) {
		if n, err := strconv.ParseInt(field, 10, 64); err == nil && i != 4 && i != 5 && i < 9 { // skips idle and iowait, and the guest times, which other fields already contain
			busy += time.Duration(n) * time.Second / ticks
		}
	}
	return busy
}

// OwnCPU returns the processor time of this process.
func OwnCPU() time.Duration {
	_, cpu := processes()
	return cpu[os.Getpid()]
}

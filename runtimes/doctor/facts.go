package doctor

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/cgroups"
)

// Facts holds the facts about the host that affect sandboxes.
type Facts struct {
	Kernel       string // version of the kernel, for example 6.18.44
	Machine      string // architecture, for example x86_64
	UID          int    // user ID of the server
	Capabilities string // capabilities of the server, in the kernel's format
	Actions      string // actions that seccomp supports
	Modules      string // active security modules
	Settings     map[string]string
	Groups       []Control // directories of this process's cgroups
	Swap         bool
	Binary       File
	Interpreters []File
}

// Control is a cgroup directory of this process.
type Control struct {
	Dir      string
	Writable bool
	Swap     bool // true if the cgroup counts swap as memory
}

// File is a program that sandboxes run.
type File struct {
	Path  string
	Real  string // path with symbolic links resolved
	Owner int
	Mode  fs.FileMode
	Loose string // the file or the parent folder that other users can change; "" if there is none
	Err   string
}

// settings returns the sysctls that affect sandboxes.
func settings() []string {
	return []string{
		"user/max_user_namespaces", "kernel/unprivileged_userns_clone", "kernel/apparmor_restrict_unprivileged_userns",
		"kernel/yama/ptrace_scope", "kernel/core_pattern", "fs/protected_symlinks", "fs/protected_hardlinks", "kernel/unprivileged_bpf_disabled",
	}
}

// Look reads the facts of the host.
func Look(o Options) Facts {
	f := Facts{
		UID: os.Geteuid(), Actions: word("/proc/sys/kernel/seccomp/actions_avail"), Modules: word("/sys/kernel/security/lsm"),
		Settings: map[string]string{}, Binary: look(o.Binary),
	}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		f.Kernel, f.Machine = unix.ByteSliceToString(name.Release[:]), unix.ByteSliceToString(name.Machine[:])
	}
	f.Capabilities = field(word("/proc/self/status"), "CapEff")
	for _, setting := range settings() {
		if text, err := os.ReadFile("/proc/sys/" + setting); err == nil {
			f.Settings[setting] = strings.TrimSpace(string(text))
		}
	}
	f.Swap = field(word("/proc/meminfo"), "SwapTotal") != "0 kB"
	dirs, _ := cgroups.Of(os.Getpid()) // on an error the list is empty, and the sandbox has already reported that
	for _, dir := range dirs {
		f.Groups = append(f.Groups, Control{Dir: dir, Writable: unix.Access(dir, unix.W_OK) == nil, Swap: exists(dir+"/memory.memsw.limit_in_bytes") || exists(dir+"/memory.swap.max")})
	}
	for _, e := range o.Engines {
		if e.Interpreter != "" {
			f.Interpreters = append(f.Interpreters, look(e.Interpreter))
		}
	}
	return f
}

func word(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// field returns the value of "Name:   value" in a list such as /proc/self/status.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// look returns a program's owner and mode, and whether other users can change the program or a folder that contains it.
func look(path string) File {
	f := File{Path: path}
	if path == "" {
		path = "/proc/self/exe"
	}
	var err error
	if f.Real, err = filepath.EvalSymlinks(path); err != nil {
		f.Err = err.Error()
		return f
	}
	if f.Path == "" {
		f.Path = f.Real
	}
	for at := f.Real; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			f.Err = err.Error()
			return f
		}
		owner := -1
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			owner = int(stat.Uid)
		}
		if at == f.Real {
			f.Owner, f.Mode = owner, info.Mode()
		}
		// Sticky bit: other users can add files to the folder, but cannot replace existing ones.
		sticky := info.IsDir() && info.Mode()&fs.ModeSticky != 0
		if f.Loose == "" && (owner != 0 && owner != os.Geteuid() || info.Mode().Perm()&0o022 != 0 && !sticky) {
			f.Loose = fmt.Sprintf("%s (owner %d, mode %04o)", at, owner, info.Mode().Perm())
		}
		if at == "/" {
			return f
		}
	}
}

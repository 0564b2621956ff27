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

// Facts are what the host says of itself.
type Facts struct {
	Kernel       string // 6.18.44
	Machine      string // x86_64
	UID          int    // of the server
	Capabilities string // of the server, as the kernel writes them
	Actions      string // of seccomp
	Modules      string // security modules
	Settings     map[string]string
	Groups       []Control // directories of our own control groups
	Swap         bool
	Binary       File
	Interpreters []File
}

// Control is a control group that this process is in.
type Control struct {
	Dir      string
	Writable bool
	Swap     bool // swap is counted with memory
}

// File is a program that jails run.
type File struct {
	Path  string
	Real  string // without links
	Owner int
	Mode  fs.FileMode
	Loose string // the file, or the folder above it, that others may change; "" for none
	Err   string
}

// settings are the sysctls that matter to jails.
func settings() []string {
	return []string{
		"user/max_user_namespaces", "kernel/unprivileged_userns_clone", "kernel/apparmor_restrict_unprivileged_userns",
		"kernel/yama/ptrace_scope", "kernel/core_pattern", "fs/protected_symlinks", "fs/protected_hardlinks", "kernel/unprivileged_bpf_disabled",
	}
}

// Look asks the host.
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
	dirs, _ := cgroups.Of(os.Getpid()) // without any the sandbox has said so
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

// field reads "Name:   value" of a list such as /proc/self/status.
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

// look finds out who may change a program.
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
		sticky := info.IsDir() && info.Mode()&fs.ModeSticky != 0 // others may add, but not replace
		if f.Loose == "" && (owner != 0 && owner != os.Geteuid() || info.Mode().Perm()&0o022 != 0 && !sticky) {
			f.Loose = fmt.Sprintf("%s (owner %d, mode %04o)", at, owner, info.Mode().Perm())
		}
		if at == "/" {
			return f
		}
	}
}

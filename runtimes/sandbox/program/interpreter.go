package program

import (
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes/sandbox"
)

// Interpreter is an interpreter installed on the host, with the mounts that it needs in a jail.
type Interpreter struct {
	Path   string          // absolute path; links are not resolved if the jail contains them too
	Mounts []sandbox.Mount // read-only
	// Executables are the files that the kernel executes to start the interpreter: the program and its dynamic loader.
	// nil if the program is a script.
	Executables []string
	// Version is the language version, such as 3.11, taken from the file name after resolving links. It is "" if the name
	// contains none.
	Version string
}

// versioned matches the file name of a Python program with its version, to which python3 is usually a link.
var versioned = regexp.MustCompile(`^python(3\.\d+)$`)

// FindInterpreter checks an interpreter's path and determines its mounts. It always mounts /usr, of which the jail shows
// only shared libraries and usual tools. For an interpreter outside of /usr it also mounts directories such as lib next to
// the interpreter's bin directory. Other files there stay hidden: for ~/bin/python3 they are a home directory.
func FindInterpreter(path string) (Interpreter, error) {
	if !filepath.IsAbs(path) {
		return Interpreter{}, fmt.Errorf("interpreter %q: not an absolute path", path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Interpreter{}, fmt.Errorf("interpreter: %w", err)
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return Interpreter{}, fmt.Errorf("interpreter: %w", err)
	case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
		return Interpreter{}, fmt.Errorf("interpreter %s: not a program", path)
	case info.Mode()&0o005 != 0o005: // check the mode, because programs see only files that every user may read
		return Interpreter{}, fmt.Errorf("interpreter %s: only some users may read it; run chmod -R o+rX on its installation", path)
	}
	found := Interpreter{Path: path, Executables: executables(real), Mounts: []sandbox.Mount{{Host: "/usr", Path: "/usr"}}}
	if name := versioned.FindStringSubmatch(filepath.Base(real)); name != nil {
		found.Version = name[1]
	}
	if sandbox.InUsr(real) {
		if !sandbox.InUsr(path) && !beneath(path, "/bin") {
			found.Path = real // use the real path, because the link is not visible in the jail
		}
		return found, nil
	}
	prefix := filepath.Dir(filepath.Dir(real)) // such as /opt/python for /opt/python/bin/python3
	if filepath.Base(filepath.Dir(real)) != "bin" || strings.Count(prefix, "/") < 2 {
		return Interpreter{}, fmt.Errorf("interpreter %s: it is installed in %s, which contains too many other files to show to programs", path, prefix)
	}
	found.Path = real
	for _, part := range []string{"bin", "lib", "lib64", "libexec", "share"} {
		dir := filepath.Join(prefix, part)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			found.Mounts = append(found.Mounts, sandbox.Mount{Host: dir, Path: dir})
		}
	}
	return found, nil
}

// executables returns a program and its dynamic loader, and nil for a script.
func executables(program string) []string {
	file, err := elf.Open(program)
	if err != nil {
		return nil
	}
	defer file.Close()
	for _, part := range file.Progs {
		if part.Type == elf.PT_INTERP && part.Filesz < unix.PathMax {
			if name, err := io.ReadAll(part.Open()); err == nil {
				return []string{program, strings.TrimRight(string(name), "\x00")}
			}
		}
	}
	return []string{program} // the program is statically linked and needs no loader
}

func beneath(path, dir string) bool { return strings.HasPrefix(path, dir+"/") }

// Environment returns the default environment of programs. The program's own values are appended to it and take
// precedence.
func Environment() []string {
	return []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + sandbox.WorkDir, "TMPDIR=" + sandbox.TempDir, "LANG=C.UTF-8"}
}

// Network returns the environment of programs with a network. It contains the proxy address under each name that
// clients read.
func Network() []string {
	var all []string
	for _, name := range []string{"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"} {
		all = append(all, name+"=http://"+sandbox.ProxyAddress)
	}
	return all
}

// Certificates returns read-only mounts of the usual directories of trusted root certificates, for TLS clients in programs.
// The files are public.
func Certificates() []sandbox.Mount {
	var found []sandbox.Mount
	for _, path := range []string{"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted"} {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			found = append(found, sandbox.Mount{Host: real, Path: path})
		}
	}
	return found
}

// CheckEnvironment returns an error for names and values that a process cannot have in its environment.
func CheckEnvironment(values map[string]string) error {
	for name, value := range values {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return fault.Invalid("/environment", "A name must not contain =, and name and value must not contain a null byte.")
		}
	}
	return nil
}

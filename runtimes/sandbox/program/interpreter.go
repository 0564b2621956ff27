package program

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes/sandbox"
)

// Interpreter is a program of the host that runs in jails, with what it needs to be seen there.
type Interpreter struct {
	Path   string          // absolute; links stay, they are seen in the jail as well
	Mounts []sandbox.Mount // read-only
	// Version is that of the language, 3.11, by the name of the file that links lead to; "" where the name has none.
	Version string
}

// versioned is how installations of Python call the program that python3 leads to.
var versioned = regexp.MustCompile(`^python(3\.\d+)$`)

// FindInterpreter checks an interpreter's path and works out its mounts: /usr, which brings the shared libraries and
// the usual tools, and if the interpreter lives elsewhere the parts of an installation that are in its folder. What else
// is there stays out of sight: the folder of ~/bin/python3 is somebody's home.
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
	}
	found := Interpreter{Path: path, Mounts: []sandbox.Mount{{Host: "/usr", Path: "/usr"}}}
	if name := versioned.FindStringSubmatch(filepath.Base(real)); name != nil {
		found.Version = name[1]
	}
	if beneath(real, "/usr") {
		if !beneath(path, "/usr") && !beneath(path, "/bin") {
			found.Path = real // the link is not there
		}
		return found, nil
	}
	prefix := filepath.Dir(filepath.Dir(real)) // of /opt/python/bin/python3
	if filepath.Base(filepath.Dir(real)) != "bin" || strings.Count(prefix, "/") < 2 {
		return Interpreter{}, fmt.Errorf("interpreter %s: lives in %s, which is too much of the host to show to programs", path, prefix)
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

func beneath(path, dir string) bool { return strings.HasPrefix(path, dir+"/") }

// Environment is what every program has in its environment, before its own values.
func Environment() []string {
	return []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + sandbox.WorkDir, "TMPDIR=" + sandbox.TempDir, "LANG=C.UTF-8"}
}

// Network is what programs with a network have in their environment: the address of the way out, under the names that
// clients look for.
func Network() []string {
	var all []string
	for _, name := range []string{"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"} {
		all = append(all, name+"=http://"+sandbox.ProxyAddress)
	}
	return all
}

// Certificates are the places where machines keep whom they trust, for clients that speak TLS themselves: public files,
// read-only.
func Certificates() []sandbox.Mount {
	var found []sandbox.Mount
	for _, path := range []string{"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted"} {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			found = append(found, sandbox.Mount{Host: real, Path: path})
		}
	}
	return found
}

// CheckEnvironment refuses what no process can have in its environment.
func CheckEnvironment(values map[string]string) error {
	for name, value := range values {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return fault.Invalid("/environment", "A name must not contain =, and name and value must not contain a null byte.")
		}
	}
	return nil
}

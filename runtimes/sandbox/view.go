package sandbox

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// hostView returns the files of the host that a program sees: its own mounts (of /usr only usrParts), top-level names
// such as /bin that belong to /usr, the few files that the dynamic linker and the C library need, and harmless devices.
// It runs in the server.
func hostView(mounts []Mount, users int) (view []Mount, links map[string]string, files map[string]string, devices []string) {
	view, links = splitUsr(mounts)
	maps.Copy(links, map[string]string{
		"/dev/fd":        "/proc/self/fd",
		"/dev/stdin":     "/proc/self/fd/0",
		"/dev/stdout":    "/proc/self/fd/1",
		"/dev/stderr":    "/proc/self/fd/2",
		"/etc/localtime": "/usr/share/zoneinfo/Etc/UTC",
	})
	files = map[string]string{
		"/etc/passwd":        passwd(users),
		"/etc/group":         group(users),
		"/etc/hosts":         "127.0.0.1 localhost " + wire.Hostname + "\n::1 localhost\n",
		"/etc/hostname":      wire.Hostname + "\n",
		"/etc/nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files\nservices: files\nprotocols: files\n",
		"/etc/resolv.conf":   "",
	}
	devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
	if slices.ContainsFunc(mounts, func(m Mount) bool { return m.Path == usr }) {
		for _, name := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/alternatives", "/etc/ld.so.cache"} {
			info, err := os.Lstat(name)
			if err != nil {
				continue
			}
			if info.Mode()&os.ModeSymlink == 0 {
				view = append(view, Mount{Host: name, Path: name})
			} else if target, err := os.Readlink(name); err == nil {
				links[name] = target
			}
		}
	}
	return view, links, files, devices
}

// passwd returns the /etc/passwd of a jail. The children of a launcher have different user ids, but all ids have the same
// user name.
func passwd(users int) string {
	var b strings.Builder
	b.WriteString("root:x:0:0:root:/:/usr/sbin/nologin\n")
	for id := wire.InsideID; id < wire.InsideID+users; id++ {
		fmt.Fprintf(&b, "agent:x:%[1]d:%[1]d:agent:%[2]s:/bin/sh\n", id, WorkDir)
	}
	return b.String()
}

func group(users int) string {
	var b strings.Builder
	b.WriteString("root:x:0:\n")
	for id := wire.InsideID; id < wire.InsideID+users; id++ {
		fmt.Fprintf(&b, "agent:x:%d:\n", id)
	}
	return b.String()
}

package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// changeRoot replaces the root of this process by a new, private root.
func changeRoot(config setup) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	unix.Umask(0)
	defer unix.Umask(0o077)
	binds, err := copyTrees(config)
	if err != nil {
		return err
	}
	if err := enterEmptyRoot(); err != nil {
		return err
	}
	// From here on relative paths are in the new root, absolute paths in the old one.
	if config.Filter.Foreign() {
		if err := fillRoot(config, binds); err != nil {
			return err
		}
	}
	return leaveOldRoot(config)
}

// tree is a detached copy of a part of the host's file system, to be mounted in the new root.
type tree struct {
	fd   int
	file bool
	path string // path in the new root
}

// copyTrees copies the mounts while the old root is still visible and not covered. It makes the copies read-only.
func copyTrees(config setup) ([]tree, error) {
	var trees []tree
	for _, m := range config.Mounts {
		t, err := copyTree(m, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
		if err != nil {
			return nil, err
		}
		trees = append(trees, t)
	}
	for _, device := range config.Devices {
		t, err := copyTree(Mount{Host: device, Path: device}, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC)
		if err != nil {
			return nil, err
		}
		trees = append(trees, t)
	}
	return trees, nil
}

func copyTree(m Mount, attributes uint64) (tree, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, m.Host, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return tree{}, fmt.Errorf("copy mount %s: %w", m.Host, err)
	}
	attr := unix.MountAttr{Attr_set: attributes, Propagation: unix.MS_PRIVATE}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
		return tree{}, fmt.Errorf("make mount %s read-only: %w", m.Host, err)
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return tree{}, fmt.Errorf("look at %s: %w", m.Host, err)
	}
	return tree{fd: fd, file: stat.Mode&unix.S_IFMT != unix.S_IFDIR, path: relative(m.Path)}, nil
}

// enterEmptyRoot mounts a small tmpfs over a directory that every host has, and makes it the working directory.
func enterEmptyRoot() error {
	for _, over := range []string{"/tmp", "/mnt", "/srv", "/home", "/sys"} {
		if info, err := os.Stat(over); err != nil || !info.IsDir() {
			continue
		}
		options := fmt.Sprintf("mode=0755,size=%d,nr_inodes=%d", rootSize, rootInodes)
		if err := unix.Mount("sandbox", over, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
			return fmt.Errorf("mount the root: %w", err)
		}
		return unix.Chdir(over)
	}
	return errors.New("the host has no directory to mount the root over")
}

// fillRoot creates the contents of a program's root.
func fillRoot(config setup, trees []tree) error {
	switch {
	case config.Launcher: // each child has its own disk
		for _, path := range []string{WorkDir, TempDir, SharedDir} {
			if err := os.MkdirAll(relative(path), 0o755); err != nil {
				return err
			}
		}
	case config.Disk > 0:
		if err := addDisk(config.Disk); err != nil {
			return err
		}
	}
	for _, t := range trees {
		if err := putTree(t); err != nil {
			return fmt.Errorf("mount /%s: %w", t.path, err)
		}
	}
	if err := hide(config.Hidden); err != nil {
		return err
	}
	for path, content := range config.Files {
		if err := put(path, func(p string) error { return os.WriteFile(p, []byte(content), 0o444) }); err != nil {
			return err
		}
	}
	for path, target := range config.Links {
		if err := put(path, func(p string) error { return os.Symlink(target, p) }); err != nil {
			return err
		}
	}
	if config.Proc {
		return addProc()
	}
	return nil
}

func putTree(t tree) error {
	err := put(t.path, func(path string) error {
		if t.file {
			return os.WriteFile(path, nil, 0o444)
		}
		return os.MkdirAll(path, 0o755)
	})
	if err != nil {
		return err
	}
	if err := unix.MoveMount(t.fd, "", unix.AT_FDCWD, t.path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return err
	}
	return unix.Close(t.fd)
}

// put creates the directories above path in the new root, then calls what for path.
func put(path string, what func(path string) error) error {
	path = relative(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return what(path)
}

// addDisk mounts the only writable tmpfs, and shows its directories at their paths. One file system for all directories
// gives one limit. The root of the tmpfs is hidden again, so the directories are not visible twice.
func addDisk(bytes int64) error {
	const disk = "disk"
	if err := os.Mkdir(disk, 0o700); err != nil {
		return err
	}
	options := fmt.Sprintf("mode=0700,size=%d,nr_inodes=%d", bytes, max(minInodes, bytes/inodeSize))
	if err := unix.Mount("sandbox", disk, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount the private disk: %w", err)
	}
	for _, path := range []string{WorkDir, TempDir, SharedDir} {
		within := filepath.Join(disk, filepath.Base(path))
		if err := os.Mkdir(within, 0o700); err != nil {
			return err
		}
		if err := os.MkdirAll(relative(path), 0o755); err != nil {
			return err
		}
		if err := unix.Mount(within, relative(path), "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount %s: %w", path, err)
		}
	}
	if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
		return err
	}
	return os.Remove(disk)
}

const (
	procFlags   = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	procOptions = "hidepid=2,subset=pid"
)

// addProc mounts a proc that shows only the processes of this jail: no /proc/sys, no keys, no kernel files.
func addProc() error {
	if err := os.Mkdir("proc", 0o755); err != nil {
		return err
	}
	if err := unix.Mount("proc", "proc", "proc", procFlags, procOptions); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	return nil
}

// leaveOldRoot makes the working directory the root, detaches the old root and makes the new one read-only.
func leaveOldRoot(config setup) error {
	if err := unix.PivotRoot(".", "."); err != nil { // the old root is now stacked on the new one
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("forget the old root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", 0, &attr); err != nil {
		return fmt.Errorf("make the root read-only: %w", err)
	}
	if config.Disk > 0 && config.Filter.Foreign() && !config.Launcher {
		return unix.Chdir(WorkDir)
	}
	return nil
}

func relative(path string) string { return strings.TrimPrefix(filepath.Clean(path), "/") }

// hostView lists the host files of a program: its own mounts, of /usr only the parts that interpreters need, the
// top-level names that belong to /usr, the few files that the dynamic linker and the C library need, and harmless
// devices. It runs in the server.
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
		"/etc/hosts":         "127.0.0.1 localhost " + hostname + "\n::1 localhost\n",
		"/etc/hostname":      hostname + "\n",
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

// passwd returns the passwd file with the users of a jail. Each child of a launcher has its own user, and sees it under
// the same name.
func passwd(users int) string {
	var b strings.Builder
	b.WriteString("root:x:0:0:root:/:/usr/sbin/nologin\n")
	for id := insideID; id < insideID+users; id++ {
		fmt.Fprintf(&b, "agent:x:%[1]d:%[1]d:agent:%[2]s:/bin/sh\n", id, WorkDir)
	}
	return b.String()
}

func group(users int) string {
	var b strings.Builder
	b.WriteString("root:x:0:\n")
	for id := insideID; id < insideID+users; id++ {
		fmt.Fprintf(&b, "agent:x:%d:\n", id)
	}
	return b.String()
}

package child

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// changeRoot replaces the root directory of this process by a new, private root.
func changeRoot(config wire.Setup) error {
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

// tree is a detached copy of a host mount (see open_tree(2)), to be mounted in the new root.
type tree struct {
	fd   int
	file bool
	path string // path in the new root
}

// copyTrees makes read-only copies of the mounts. This must happen while the old root is still visible.
func copyTrees(config wire.Setup) ([]tree, error) {
	var trees []tree
	for _, m := range config.Mounts {
		t, err := copyTree(m, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
		if err != nil {
			return nil, err
		}
		trees = append(trees, t)
	}
	for _, device := range config.Devices {
		t, err := copyTree(wire.Mount{Host: device, Path: device}, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC)
		if err != nil {
			return nil, err
		}
		trees = append(trees, t)
	}
	return trees, nil
}

func copyTree(m wire.Mount, attributes uint64) (tree, error) {
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
		return tree{}, fmt.Errorf("stat %s: %w", m.Host, err)
	}
	return tree{fd: fd, file: stat.Mode&unix.S_IFMT != unix.S_IFDIR, path: relative(m.Path)}, nil
}

// enterEmptyRoot mounts a small tmpfs over a directory that exists on every host, and makes it the working directory.
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
func fillRoot(config wire.Setup, trees []tree) error {
	switch {
	case config.Launcher: // not for a launcher, because each child has its own disk
		for _, path := range []string{wire.WorkDir, wire.TempDir, wire.SharedDir} {
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

// put creates the parent directories of path in the new root. Then it calls what with the path relative to the root.
func put(path string, what func(path string) error) error {
	path = relative(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return what(path)
}

// addDisk mounts the private disk, a writable tmpfs, and binds its directories to WorkDir, TempDir and SharedDir. They
// share one file system, so one size limit applies to all. Then it unmounts the root of the tmpfs, so that the
// directories are not visible twice.
func addDisk(bytes int64) error {
	const disk = "disk"
	if err := os.Mkdir(disk, 0o700); err != nil {
		return err
	}
	options := fmt.Sprintf("mode=0700,size=%d,nr_inodes=%d", bytes, max(wire.MinInodes, bytes/wire.InodeSize))
	if err := unix.Mount("sandbox", disk, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount the private disk: %w", err)
	}
	for _, path := range []string{wire.WorkDir, wire.TempDir, wire.SharedDir} {
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

// addProc mounts a /proc that shows only the process directories of this jail. It does not show /proc/sys, keys and
// files of the kernel.
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
func leaveOldRoot(config wire.Setup) error {
	if err := unix.PivotRoot(".", "."); err != nil { // the old root is now stacked on the new one
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount the old root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", 0, &attr); err != nil {
		return fmt.Errorf("make the root read-only: %w", err)
	}
	if config.Disk > 0 && config.Filter.Foreign() && !config.Launcher {
		return unix.Chdir(wire.WorkDir)
	}
	return nil
}

func relative(path string) string { return strings.TrimPrefix(filepath.Clean(path), "/") }

// Limits of the root, which contains only directories, small files and links.
const (
	rootInodes = 512
	rootSize   = 1 << 20
)

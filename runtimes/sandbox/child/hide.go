package child

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// hide makes each private file and directory in the new root unreadable. It covers the path with a device node on a
// mount with nodev, which no program can open. A path that was removed meanwhile is skipped.
func hide(paths []string) error {
	for _, name := range paths {
		name = relative(name)
		var stat unix.Stat_t
		if unix.Lstat(name, &stat) != nil {
			continue
		}
		if stat.Mode&unix.S_IFMT == unix.S_IFDIR {
			if err := unix.Mount("sandbox", name, "tmpfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0,size=4096,nr_inodes=1"); err != nil {
				return fmt.Errorf("hide /%s: %w", name, err)
			}
			continue
		}
		if err := unix.Mount(relative(os.DevNull), name, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("hide /%s: %w", name, err)
		}
		if err := unix.Mount("", name, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
			return fmt.Errorf("hide /%s: %w", name, err)
		}
	}
	return nil
}

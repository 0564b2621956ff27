// Command arm64 is the init process of the emulated machine that scripts/arm64.sh starts. It runs each line of
// /tests/run with bash, prints the exit code, and turns the machine off.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"
)

func main() {
	err := errors.Join(root(), mounts(), loopback())
	if err == nil {
		err = run("/tests/run")
	}
	if err != nil {
		fmt.Println("FAIL the emulated machine:", err)
	}
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

// root makes /system the root directory. The sandbox calls pivot_root, which the kernel refuses in the initial root
// file system.
func root() error {
	return errors.Join(
		unix.Mount("/system", "/system", "", unix.MS_BIND, ""), os.Chdir("/system"),
		unix.Mount(".", "/", "", unix.MS_MOVE, ""), unix.Chroot("."), os.Chdir("/"))
}

func mounts() error {
	var all error
	for _, m := range []struct{ kind, at string }{
		{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"tmpfs", "/dev/shm"}, {"tmpfs", "/tmp"}, {"cgroup2", "/sys/fs/cgroup"},
	} {
		all = errors.Join(all, os.MkdirAll(m.at, 0o755), unix.Mount(m.kind, m.at, m.kind, 0, ""))
	}
	return errors.Join(all, os.Chmod("/tmp", 0o777|os.ModeSticky))
}

func loopback() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, lo)
}

func run(list string) error {
	lines, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(lines)) {
		command := exec.Command("/usr/bin/bash", "-c", line)
		command.Env = []string{"PATH=/usr/bin:/usr/sbin", "HOME=/tmp"}
		command.Stdout, command.Stderr = os.Stdout, os.Stdout
		end := "ok  "
		if err := command.Run(); err != nil {
			end = "FAIL"
		}
		fmt.Printf("%s %s\n", end, strings.TrimSpace(line))
	}
	return nil
}

package program

import (
	"os"
	"path/filepath"
)

// Reachable reports whether a guest may open a file. A guest of a server that runs as root is another user.
func Reachable(path string) bool {
	if os.Geteuid() != 0 {
		return true
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err != nil || info.Mode()&0o001 == 0 {
			return false
		}
		if dir == "/" {
			return true
		}
	}
}

// Copy makes a program readable for guests, if it lies in a directory that is closed to other users. It returns the
// directory of the copy, which the caller removes, and the program's path in it.
func Copy(program string) (dir, path string, err error) {
	if dir, err = os.MkdirTemp("", "atelier-program-"); err != nil {
		return "", "", err
	}
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // guests enter it
		return dir, "", err
	}
	to := filepath.Join(dir, filepath.Base(program))
	if err := os.Link(program, to); err != nil {
		content, err := os.ReadFile(program)
		if err != nil {
			return dir, "", err
		}
		if err := os.WriteFile(to, content, 0o755); err != nil { //nolint:gosec // guests execute it
			return dir, "", err
		}
	}
	return dir, to, nil
}

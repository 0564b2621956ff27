package program

import (
	"os"
	"path/filepath"
)

// Reachable reports whether programs in jails may open a file. If the server runs as root, programs run as another
// user, so every parent directory must be open to other users.
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

// Copy copies a program to a new temporary directory, where programs in jails can read it. It returns the directory,
// which the caller must remove, and the path of the copy.
func Copy(program string) (dir, path string, err error) {
	if dir, err = os.MkdirTemp("", "atelier-program-"); err != nil {
		return "", "", err
	}
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // guests must be able to enter the directory
		return dir, "", err
	}
	to := filepath.Join(dir, filepath.Base(program))
	if err := os.Link(program, to); err != nil {
		content, err := os.ReadFile(program)
		if err != nil {
			return dir, "", err
		}
		if err := os.WriteFile(to, content, 0o755); err != nil { //nolint:gosec // guests must be able to execute the copy
			return dir, "", err
		}
	}
	return dir, to, nil
}

package app

import (
	"os"
	"path/filepath"
)

// interpreter returns the configured path of an interpreter. If none is configured, it returns the first program with
// the given name in the system's directories. It ignores PATH, because a program there may be a shim that needs the
// user's home directory.
func interpreter(configured, name string) string {
	if configured != "" {
		return configured
	}
	for _, dir := range []string{"/usr/bin", "/usr/local/bin"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

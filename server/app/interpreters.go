package app

import (
	"os"
	"path/filepath"
)

// interpreter is the one that is configured, else the first of that name where the system installs them. PATH is not
// asked: what stands there may be a shim that needs the user's home.
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

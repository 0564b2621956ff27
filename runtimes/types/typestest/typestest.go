// Package typestest finds the TypeScript compiler for tests.
package typestest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Compiler returns the path of the native compiler in the repository's node_modules. It skips the test if the compiler
// is not installed.
func Compiler(tb testing.TB) string {
	tb.Helper()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for ; dir != "/"; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, "node_modules", "@typescript", "typescript-linux-"+arch, "lib", "tsc")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	tb.Skip("the TypeScript compiler is missing; run npm ci")
	return ""
}

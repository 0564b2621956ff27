package gctuning_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/atelier-run/atelier/internal/gctuning"
)

func TestLimit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for path, text := range map[string]string{
		"own/memory.max": "536870912\n", "open/memory.max": "max\n", "memory.max": "1000\n",
		"memory/old/memory.limit_in_bytes": "2000\n", "memory/all/memory.limit_in_bytes": "9223372036854771712\n",
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for groups, want := range map[string]int64{
		"0::/own\n": 512 << 20, "0::/open\n": 0, "0::/elsewhere\n": 1000, "": 0,
		"4:memory:/old\n1:cpu:/x\n0::/none\n": 2000, "4:memory:/all\n": 0,
	} {
		if got := gctuning.LimitOf(groups, dir); got != want {
			t.Errorf("%q: %d, want %d", groups, got, want)
		}
	}
}

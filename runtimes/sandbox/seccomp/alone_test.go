package seccomp_test

import (
	"testing"

	"github.com/atelier-run/atelier/runtimes/sandbox/seccomp"
)

// TestAlone checks that Alone allows threads but no children, execve only with a path at ProgramPath, and no mapping at
// that address.
func TestAlone(t *testing.T) {
	t.Parallel()
	const (
		path    = uint64(seccomp.ProgramPath)
		fixed   = 0x10
		anon    = 0x22
		garbage = 0xdeadbeef00000000
	)
	perm := seccomp.Errno(1)
	for name, tt := range map[string]struct {
		number uint32
		args   [6]uint64
		want   seccomp.Action
	}{
		"read":                        {0, args(), seccomp.Allow},
		"thread":                      {56, args(0x3d0f00), seccomp.Allow},
		"thread, garbage above":       {56, args(garbage | 0x3d0f00), seccomp.Allow},
		"child":                       {56, args(17), perm},
		"child that shares memory":    {56, args(0x4100 | 17), perm},
		"thread in a new namespace":   {56, args(0x3d0f00 | 0x10000000), perm},
		"clone3":                      {435, args(), seccomp.Errno(38)},
		"fork":                        {57, args(), perm},
		"vfork":                       {58, args(), perm},
		"execve of the program":       {59, args(path), seccomp.Allow},
		"execve":                      {59, args(0x7f0000001000), perm},
		"execve, equal below":         {59, args(path | 1<<32), perm},
		"execve beside it":            {59, args(path + 1), perm},
		"execveat":                    {322, args(path, path), perm},
		"mmap anywhere":               {9, args(0, 4096, 3, anon), seccomp.Allow},
		"mmap of code":                {9, args(0, 4096, 7, anon), seccomp.Allow},
		"mmap at a hint":              {9, args(0x7f0000000000, 4096, 3, anon|fixed), seccomp.Allow},
		"mmap, equal below":           {9, args(path|1<<32, 4096, 3, anon|fixed), seccomp.Allow},
		"mmap there":                  {9, args(path, 4096, 3, anon|fixed), perm},
		"mmap across":                 {9, args(0x10000, 2<<20, 3, anon|fixed), perm},
		"mmap behind the low memory":  {9, args(2<<20, 4096, 3, anon|fixed), seccomp.Allow},
		"mmap that grows down":        {9, args(2<<20, 4096, 3, anon|0x100), perm},
		"mremap that moves":           {25, args(0x7f0000000000, 4096, 8192, 1), seccomp.Allow},
		"mremap, an argument too few": {25, args(0x7f0000000000, 4096, 8192, 1, path), seccomp.Allow},
		"mremap there":                {25, args(0x7f0000000000, 4096, 4096, 3, path), perm},
		"mremap elsewhere":            {25, args(0x7f0000000000, 4096, 4096, 3, 0x7f0000100000), seccomp.Allow},
		"shmat":                       {30, args(), perm},
		"map_shadow_stack":            {453, args(path), perm},
		"arch_prctl of a thread":      {158, args(0x1002), seccomp.Allow},
		"arch_prctl maps":             {158, args(0x2003, path), perm},
		"ptrace":                      {101, args(), perm},
	} {
		if got := run(t, seccomp.Alone(), seccomp.AMD64, call{auditAMD64, tt.number, tt.args}); got != tt.want {
			t.Errorf("%s: %#x, want %#x", name, got, tt.want)
		}
	}
}

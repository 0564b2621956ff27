package packages

import "testing"

// TestPythonRelease compares versions as PEP 440 does.
func TestPythonRelease(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"1.0", "1", "1.0.0", "v1.0", "0!1.0", " 01.0 "}, {"1.0a0", "1-alpha", "1.0.0.ALPHA.0", "1a"}, {"1rc1", "1.0c1", "1.0-pre1", "1_preview_1"},
		{"1.0.post1", "1-1", "1.r1", "1.0.0rev1"}, {"1.10", "1.10.0"}, {"1+ubuntu.1", "1.0+ubuntu-01"}, {"2024.1.5", "2024.01.05"}, {"1.0.dev0", "1.dev"}, {"1.0.1", "1.0.1.0"}, {"0", "0.0"}, {"1!1", "1!1.0"}, {"100", "100.0"}, {"1.0rc10", "1rc10"}, {""},
	} {
		for _, one := range same[1:] {
			if pythonRelease(one) != pythonRelease(same[0]) {
				t.Errorf("%q is %q, %q is %q", one, pythonRelease(one), same[0], pythonRelease(same[0]))
			}
		}
	}
	for _, pair := range [][2]string{{"1.0", "1.0.1"}, {"1.0", "1.0a0"}, {"1.0", "10"}, {"1.0.1", "1.1"}, {"1a1", "1b1"}, {"1", "1.post0"}, {"1-1", "1.1"}, {"1", "1+a"}, {"1!1", "1"}, {"1", ""}, {"1.0a1", "1.0a10"}, {"1.0.0.1", "1.1"}} {
		if pythonRelease(pair[0]) == pythonRelease(pair[1]) {
			t.Errorf("%q equals %q", pair[0], pair[1])
		}
	}
}

package bytesize_test

import (
	"testing"

	"github.com/atelier-run/atelier/internal/bytesize"
)

func TestText(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 B", 1: "1 B", 1023: "1023 B", 1 << 10: "1 KiB", 1536: "1.5 KiB", 200_000: "195 KiB", 256 << 20: "256 MiB",
		1<<20 - 1: "1 MiB", 1<<20 - 1<<9: "1 MiB", 1<<20 - 1<<9 - 1: "1023 KiB", 1<<30 - 1: "1 GiB", 1 << 20: "1 MiB", 1<<20 + 1: "1 MiB", 9.96e6 + 500_000: "10 MiB", 2 << 30: "2 GiB", 5 << 40: "5120 GiB",
	} {
		if got := bytesize.Text(n); got != want {
			t.Errorf("%d bytes are %q, not %q", n, got, want)
		}
	}
}

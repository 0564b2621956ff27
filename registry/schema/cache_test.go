package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/registry/schema"
)

// TestCacheBoundsTheSizeOfItsSchemas checks that a cache with room for 512 schemas also limits their total size. A
// compiled schema of 60 kB with 1,900 properties uses 1.2 MiB.
func TestCacheBoundsTheSizeOfItsSchemas(t *testing.T) {
	t.Parallel()
	cache := schema.NewCache(512)
	text := func(i int) []byte {
		return fmt.Appendf(nil, `{"$comment":"%d %s"}`, i, strings.Repeat("x", 240<<10))
	}
	get := func(text []byte) *schema.Schema {
		s, err := cache.Get(text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := get(text(0))
	if get(text(0)) != first {
		t.Error("a schema is not cached")
	}
	for i := range 10 {
		get(text(i + 1))
	}
	if get(text(0)) == first {
		t.Error("all of 2.6 MB are cached")
	}
}

package schema

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/atelier-run/atelier/internal/lru"
)

// Cache keeps the compiled schemas that were used most recently, so that runs do not compile them again. It is safe for
// concurrent use.
type Cache struct {
	compiled *lru.Cache[[sha256.Size]byte, *Schema]
}

// cachedBytes is the maximum total length of the schema texts in a cache. A compiled schema takes up to forty times the
// memory of its text.
const cachedBytes = 2 << 20

// NewCache returns an empty cache that keeps at most the given number of schemas.
func NewCache(most int) *Cache {
	return &Cache{compiled: lru.New[[sha256.Size]byte, *Schema](most, cachedBytes)}
}

// Get returns the compiled schema. If Compile fails, Get returns its error and does not cache it. Two concurrent calls
// with the same new schema may both compile it.
func (c *Cache) Get(raw json.RawMessage) (*Schema, error) {
	if absent(raw) {
		return &Schema{}, nil
	}
	key := sha256.Sum256(raw)
	if s, ok := c.compiled.Get(key); ok {
		return s, nil
	}
	s, err := Compile(raw)
	if err != nil {
		return nil, err
	}
	c.compiled.Put(key, s, len(raw))
	return s, nil
}

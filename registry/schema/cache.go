package schema

import (
	"container/list"
	"crypto/sha256"
	"encoding/json"
	"sync"
)

// Cache keeps the schemas that were used last, so that a run does not compile them. It may be used by many goroutines.
type Cache struct {
	mu      sync.Mutex
	entries map[[sha256.Size]byte]*list.Element
	recent  *list.List // of *cached, the last used first
	most    int
	bytes   int // of the texts of those kept
}

// cachedBytes bounds the texts of all schemas in a cache. A compiled schema takes up to forty times the memory of its text.
const cachedBytes = 2 << 20

type cached struct {
	key    [sha256.Size]byte
	schema *Schema
	bytes  int
}

// NewCache returns a cache of at most so many schemas.
func NewCache(most int) *Cache {
	return &Cache{entries: map[[sha256.Size]byte]*list.Element{}, recent: list.New(), most: max(1, most)}
}

// Get returns the compiled schema, or the error of Compile, which is not kept. Two that ask for the same new schema at
// once may both compile it.
func (c *Cache) Get(raw json.RawMessage) (*Schema, error) {
	if absent(raw) {
		return &Schema{}, nil
	}
	key := sha256.Sum256(raw)
	if s := c.find(key); s != nil {
		return s, nil
	}
	s, err := Compile(raw)
	if err != nil {
		return nil, err
	}
	c.keep(key, s, len(raw))
	return s, nil
}

func (c *Cache) find(key [sha256.Size]byte) *Schema {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.entries[key]
	if !ok {
		return nil
	}
	c.recent.MoveToFront(element)
	return element.Value.(*cached).schema
}

func (c *Cache) keep(key [sha256.Size]byte, s *Schema, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries[key]; ok {
		return
	}
	c.entries[key] = c.recent.PushFront(&cached{key, s, bytes})
	c.bytes += bytes
	for c.recent.Len() > c.most || c.bytes > cachedBytes {
		oldest := c.recent.Remove(c.recent.Back()).(*cached)
		delete(c.entries, oldest.key)
		c.bytes -= oldest.bytes
	}
}

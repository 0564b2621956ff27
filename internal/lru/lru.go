// Package lru keeps the values that were used last.
package lru

import (
	"container/list"
	"sync"
)

// Cache keeps so many values of so many bytes together; one that is larger by itself is kept alone. It may be used by many
// goroutines.
type Cache[K comparable, V any] struct {
	most, limit int

	mu      sync.Mutex
	entries map[K]*list.Element
	used    *list.List // of *entry, the last used first
	bytes   int
}

type entry[K comparable, V any] struct {
	key   K
	value V
	bytes int
}

// New returns an empty cache of at most so many values, and bytes.
func New[K comparable, V any](most, bytes int) *Cache[K, V] {
	return &Cache[K, V]{most: max(1, most), limit: bytes, entries: map[K]*list.Element{}, used: list.New()}
}

// Get answers a value that is kept.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.entries[key]
	if !ok {
		return value, false
	}
	c.used.MoveToFront(element)
	return element.Value.(*entry[K, V]).value, true
}

// Put keeps a value, unless there is one of that key: values of one key are the same.
func (c *Cache[K, V]) Put(key K, value V, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries[key]; ok {
		return
	}
	c.entries[key] = c.used.PushFront(&entry[K, V]{key, value, bytes})
	c.bytes += bytes
	for c.used.Len() > c.most || c.bytes > c.limit && c.used.Len() > 1 {
		last := c.used.Remove(c.used.Back()).(*entry[K, V])
		delete(c.entries, last.key)
		c.bytes -= last.bytes
	}
}

// Package lru provides a cache of the most recently used values.
package lru

import (
	"container/list"
	"sync"
)

// Cache is a cache with a maximum number of values and a maximum total size. If a value is larger than the maximum
// size, the cache contains only this value. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	most, limit int

	mu      sync.Mutex
	entries map[K]*list.Element
	used    *list.List // list of *entry; the most recently used entry is first
	bytes   int
}

type entry[K comparable, V any] struct {
	key   K
	value V
	bytes int
}

// New returns an empty cache with the given maximum number of values and of bytes.
func New[K comparable, V any](most, bytes int) *Cache[K, V] {
	return &Cache[K, V]{most: max(1, most), limit: bytes, entries: map[K]*list.Element{}, used: list.New()}
}

// Get returns the cached value of a key.
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

// Put adds a value and removes the least recently used values that exceed the limits. It does nothing if the key
// exists, because all values of a key must be equal.
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

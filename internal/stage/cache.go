package stage

import (
	"container/list"
	"slices"
	"sync"
)

// byteCache keeps the bytes of the files read last, up to a total number of bytes. Keys are *fact for files of the base
// and *body for staged files: the bytes of both never change. It is safe for concurrent use.
type byteCache struct {
	mu    sync.Mutex
	limit int64
	used  int64
	order *list.List // of cacheEntry, the last used first
	byKey map[any]*list.Element
}

type cacheEntry struct {
	key  any
	data []byte
}

func newByteCache(limit int64) *byteCache {
	return &byteCache{limit: limit, order: list.New(), byKey: make(map[any]*list.Element)}
}

func (c *byteCache) get(key any) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(cacheEntry).data, true
}

// put keeps data, which must not change any more, unless data is larger than the limit.
func (c *byteCache) put(key any, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[key]; ok || int64(len(data)) > c.limit {
		return
	}
	c.byKey[key] = c.order.PushFront(cacheEntry{key, data})
	for c.used += int64(len(data)); c.used > c.limit; {
		last := c.order.Back()
		entry := c.order.Remove(last).(cacheEntry)
		delete(c.byKey, entry.key)
		c.used -= int64(len(entry.data))
	}
}

// offer keeps a copy of data if there is room for it without removing others.
func (c *byteCache) offer(key any, data []byte) {
	c.mu.Lock()
	hasRoom := c.used+int64(len(data)) <= c.limit
	c.mu.Unlock()
	if hasRoom {
		c.put(key, slices.Clone(data))
	}
}

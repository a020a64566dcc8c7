package mcpserver

import "sync"

// maxRanges is the number of shown line ranges that are remembered.
const maxRanges = 4096

// shownRange is a range of lines, identified by its file and its hash.
type shownRange struct{ path, hash string }

// ranges remembers the hashes of ranges that were shown. Without it, a content_hash of a range
// could not be distinguished from that of a whole file: the file may once have had only these lines.
type ranges struct {
	mu    sync.Mutex
	known map[shownRange]bool
	list  []shownRange // the oldest first
}

func newRanges() *ranges { return &ranges{known: make(map[shownRange]bool)} }

// add remembers a range by its whole hash and by the shown part of the hash.
func (r *ranges) add(path, hash string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, shown := range []shownRange{{path, hash}, {path, hash[:hashShown]}} {
		if r.known[shown] {
			continue
		}
		r.known[shown] = true
		r.list = append(r.list, shown)
	}
	for len(r.list) > maxRanges {
		delete(r.known, r.list[0])
		r.list = r.list[1:]
	}
}

func (r *ranges) has(path, hash string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[shownRange{path, hash}]
}

// hashShown is the number of digits that are shown of the hash of a range of lines.
const hashShown = 16

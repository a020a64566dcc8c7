package mcpserver

import "sync"

// maxRanges is how many ranges of lines are remembered that were shown.
const maxRanges = 4096

// shownRange is a range of lines by the name of its file and by its hash.
type shownRange struct{ path, hash string }

// ranges remembers the hashes of ranges that were shown. Without that, nobody could say whether a content_hash is that
// of a range or that of the whole file as it was: the file may have had these lines and no others.
type ranges struct {
	mu    sync.Mutex
	known map[shownRange]bool
	list  []shownRange // the oldest first
}

func newRanges() *ranges { return &ranges{known: make(map[shownRange]bool)} }

// add remembers a range, by the whole hash and by what a text shows of it.
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

// hashShown is how many digits of the hashes of a range of lines are shown.
const hashShown = 16

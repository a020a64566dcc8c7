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

// sayRange makes a range_hash of the content_hash of an edit of lines, if it is the hash of a range that was shown.
func (s *Server) sayRange(path string, edit writeArgs) {
	command := edit.text("command")
	if command != "insert" && command != "replace_lines" || edit["range_hash"] != nil {
		return
	}
	if s.ranges.has(path, edit.text("content_hash")) {
		edit["range_hash"] = edit["content_hash"]
		delete(edit, "content_hash")
	}
}

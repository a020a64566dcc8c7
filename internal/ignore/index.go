package ignore

import (
	"slices"
	"strings"
)

// index finds the last rule that matches without trying each: most rules name a file, an extension or a path, and those
// are looked up; the few others are tried one by one, from the last.
type index struct {
	found  [kindsFound]map[string]last // by the text of the test
	others []int                       // ranks of the rest, descending
}

// last holds the ranks of the last rules for one key: its index in the file plus one, so that 0 is none.
type last struct{ any, dirOnly int }

func (l last) rank(isDir bool) int {
	if isDir {
		return max(l.any, l.dirOnly)
	}
	return l.any
}

func newIndex(rules []Rule) index {
	var x index
	for i := range rules {
		r, rank := &rules[i], i+1
		if r.test.kind >= kindsFound {
			x.others = append(x.others, rank)
			continue
		}
		m := x.found[r.test.kind]
		if m == nil {
			m = make(map[string]last)
			x.found[r.test.kind] = m
		}
		l := m[r.test.text]
		if r.DirOnly {
			l.dirOnly = rank
		} else {
			l.any = rank
		}
		m[r.test.text] = l
	}
	slices.Reverse(x.others)
	return x
}

// Match returns the last rule of the file that matches a path, or nil. Paths that are not below the directory of the
// file match nothing.
func (f *File) Match(path string, isDir bool) *Rule {
	rel, ok := strings.CutPrefix(path, f.prefix)
	if !ok || rel == "" {
		return nil
	}
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	ext := name[max(0, strings.LastIndexByte(name, '.')):]
	best := 0
	for kind, text := range [...]string{nameIs: name, pathIs: rel, extIs: ext} {
		if m := f.found[kind]; m != nil {
			best = max(best, m[text].rank(isDir))
		}
	}
	for _, rank := range f.others {
		if rank < best {
			break
		}
		if r := &f.rules[rank-1]; (isDir || !r.DirOnly) && r.test.match(rel, name) {
			return r
		}
	}
	if best == 0 {
		return nil
	}
	return &f.rules[best-1]
}

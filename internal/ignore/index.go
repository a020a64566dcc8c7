package ignore

import (
	"slices"
	"strings"
)

// index finds the last matching rule without trying each: most rules name a file, an extension or a path, and those are
// looked up; the few others are tried one by one, starting with the last.
type index struct {
	// found has the ranks of the last rules by the texts of their tests: in found[0] for all paths, in found[1] for
	// directories only. A rank is the index in the file plus one; 0 means none.
	found  [2][kindsFound]map[string]int
	others []int // ranks of the rest, descending
}

func newIndex(rules []Rule) index {
	var x index
	for i := range rules {
		r, rank := &rules[i], i+1
		if r.test.kind >= kindsFound {
			x.others = append(x.others, rank)
			continue
		}
		ranks := &x.found[0][r.test.kind]
		if r.DirOnly {
			ranks = &x.found[1][r.test.kind]
		}
		if *ranks == nil {
			*ranks = make(map[string]int)
		}
		(*ranks)[r.test.text] = rank
	}
	slices.Reverse(x.others)
	return x
}

// Match returns the last rule of the file that matches a path, or nil. Paths outside the directory of the file match
// nothing.
func (f *File) Match(path string, isDir bool) *Rule {
	rel, ok := strings.CutPrefix(path, f.prefix)
	if !ok || rel == "" {
		return nil
	}
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	ext := name[max(0, strings.LastIndexByte(name, '.')):]
	best := 0
	for kind, text := range [...]string{nameIs: name, pathIs: rel, extIs: ext} {
		if best = max(best, f.found[0][kind][text]); isDir {
			best = max(best, f.found[1][kind][text])
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

package ignore

import "strings"

// index finds the last rule that matches without trying each: most rules name a file, an extension or a path, and those
// are looked up; the few others are tried one by one, from the last.
type index struct {
	names  map[string]last // of nameIs
	exts   map[string]last // of nameSuffix, where the suffix is a whole extension with its dot
	paths  map[string]last // of pathIs
	others []int           // ranks of the rest, descending
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
	put := func(m *map[string]last, key string, rank int, dirOnly bool) {
		if *m == nil {
			*m = make(map[string]last)
		}
		l := (*m)[key]
		if dirOnly {
			l.dirOnly = rank
		} else {
			l.any = rank
		}
		(*m)[key] = l
	}
	for i := range rules {
		r, rank := &rules[i], i+1
		switch {
		case r.test.kind == nameIs:
			put(&x.names, r.test.text, rank, r.DirOnly)
		case r.test.kind == pathIs:
			put(&x.paths, r.test.text, rank, r.DirOnly)
		case r.test.kind == nameSuffix && strings.LastIndexByte(r.test.text, '.') == 0:
			put(&x.exts, r.test.text, rank, r.DirOnly)
		default:
			x.others = append(x.others, rank)
		}
	}
	for i, j := 0, len(x.others)-1; i < j; i, j = i+1, j-1 {
		x.others[i], x.others[j] = x.others[j], x.others[i]
	}
	return x
}

// Match returns the last rule of the file that matches a path, or nil. Paths that are not below the directory of the
// file match nothing.
func (f *File) Match(path string, isDir bool) *Rule {
	if len(path) <= len(f.prefix) || !strings.HasPrefix(path, f.prefix) {
		return nil
	}
	rel := path[len(f.prefix):]
	name := rel[strings.LastIndexByte(rel, '/')+1:]

	best := 0
	if f.names != nil {
		best = f.names[name].rank(isDir)
	}
	if f.exts != nil {
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			best = max(best, f.exts[name[dot:]].rank(isDir))
		}
	}
	if f.paths != nil {
		best = max(best, f.paths[rel].rank(isDir))
	}
	for _, rank := range f.others {
		if rank < best {
			break
		}
		if r := &f.rules[rank-1]; (isDir || !r.DirOnly) && r.test.match(rel, name) {
			best = rank
			break
		}
	}
	if best == 0 {
		return nil
	}
	return &f.rules[best-1]
}

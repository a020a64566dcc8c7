// Package schedule decides which steps of a pipeline may run at the same time.
package schedule

import (
	"context"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/stage"
)

// Step is a step as far as its order goes.
type Step struct {
	// After are the positions of the earlier steps that it names.
	After []int
	// ReadOnly means that it writes nothing.
	ReadOnly bool
	// Reads and Writes are the paths that it can meet, if they are Known. Otherwise it can meet anything.
	Reads, Writes []string
	Known         bool
	// Outside means that it comes after all steps before it, and before all after it.
	Outside bool
	// Exclusive means that no other step may run at the same time.
	Exclusive bool
}

// Waves puts the steps into waves: all steps of a wave may run at the same time, and a wave begins when the one
// before is done.
//
// Levels are those of Kahn's algorithm over the edges between each step and the earlier steps that it names, or could
// meet in the file system. Within a level, steps that only read run together, then each step that may write, or is
// exclusive, runs alone, so that its savepoint holds no changes of another step. A step that acts outside of the tree
// has edges with all others: in sequence it would not have been reached after the failure of an earlier one.
func Waves(ctx context.Context, steps []Step, tree *stage.Stage) [][]int {
	level := make([]int, len(steps))
	met := make([]Step, len(steps))
	deepest := 0
	for i, s := range steps {
		// Edges only lead from earlier steps to later ones, so one pass in order is Kahn's algorithm.
		met[i] = s
		if s.Known {
			met[i].Reads, met[i].Known = places(ctx, s.Reads, tree)
		}
		if met[i].Known {
			met[i].Writes, met[i].Known = places(ctx, s.Writes, tree)
		}
		for j := range i {
			if s.Outside || steps[j].Outside || slices.Contains(s.After, j) || met[j].meets(met[i]) {
				level[i] = max(level[i], level[j]+1)
			}
		}
		deepest = max(deepest, level[i])
	}
	var waves [][]int
	for l := range deepest + 1 {
		var readers []int
		var writers [][]int
		for i, s := range steps {
			switch {
			case level[i] != l:
			case s.ReadOnly && !s.Exclusive:
				readers = append(readers, i)
			default:
				writers = append(writers, []int{i})
			}
		}
		if len(readers) > 0 {
			waves = append(waves, readers)
		}
		waves = append(waves, writers...)
	}
	return waves
}

// places returns the keys of the canonical names, and of where symbolic links lead from them: two names of one file
// must meet. They are sorted. ok is false if a name is not valid, which the step itself has to report, or if the run
// is over.
func places(ctx context.Context, names []string, tree *stage.Stage) (keys []string, ok bool) {
	for _, name := range names {
		canonical, err := tree.Canonical(name)
		if err != nil || ctx.Err() != nil {
			return nil, false
		}
		keys = append(keys, key(canonical))
		if resolved, err := tree.Resolve(canonical); err == nil && resolved != canonical {
			keys = append(keys, key(resolved))
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys), true
}

// meets reports whether the order of the two steps could matter.
func (s Step) meets(o Step) bool {
	switch {
	case s.ReadOnly && o.ReadOnly:
		return false
	case !s.Known || !o.Known:
		return true
	}
	return overlap(s.Writes, o.Reads) || overlap(s.Writes, o.Writes) || overlap(s.Reads, o.Writes)
}

// overlap reports whether a path of one list equals a path of the other list, or lies in one. Both are lists of keys,
// sorted: all that lies in a directory follows that directory, so one pass over both finds out.
func overlap(a, b []string) bool {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case strings.HasPrefix(a[0], b[0]), strings.HasPrefix(b[0], a[0]):
			return true
		case a[0] < b[0]:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return false
}

// key is a canonical path in a form in which the key of a directory begins the keys of all that lies in it, and no
// others.
func key(path string) string {
	if path == "." {
		return ""
	}
	return strings.ReplaceAll(path, "/", "\x00") + "\x00"
}

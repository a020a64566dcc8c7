// Package schedule decides which steps of a pipeline may run at the same time.
package schedule

import (
	"context"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/stage"
)

// Step is the part of a step that matters for its order.
type Step struct {
	// After are the positions of the earlier steps that it refers to.
	After []int
	// ReadOnly means that it writes nothing.
	ReadOnly bool
	// Reads and Writes are the paths that it can access, if Known is set. Otherwise it can access anything.
	Reads, Writes []string
	Known         bool
	// Links means that it may make a symbolic link, or move one.
	Links bool
	// Outside means that it must run after all steps before it, and before all steps after it.
	Outside bool
	// Exclusive means that no other step may run at the same time.
	Exclusive bool
}

// Waves groups the steps into waves: all steps of a wave may run at the same time, and a wave begins when the previous
// one is done.
//
// The levels come from Kahn's algorithm. There are edges between each step and the earlier steps that it refers to,
// or could conflict with in the file system. Within a level, steps that only read run together; then each step that may
// write, or is exclusive, runs alone, so that its savepoint has no changes of another step. A step that acts outside
// the tree has edges to all other steps: in sequence, the failure of an earlier step would prevent it.
func Waves(ctx context.Context, steps []Step, tree *stage.Stage) [][]int {
	level := make([]int, len(steps))
	met := make([]Step, len(steps))
	deepest := 0
	for i, s := range steps {
		// Edges only lead from earlier steps to later ones, so one pass in order is enough for Kahn's algorithm.
		met[i] = s
		if s.Known {
			met[i].Reads, met[i].Known = places(ctx, s.Reads, tree)
		}
		if met[i].Known {
			met[i].Writes, met[i].Known = places(ctx, s.Writes, tree)
		}
		if slices.ContainsFunc(met[:i], met[i].mayFollow) {
			met[i].Known = false // the tree does not have the link yet
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

// places returns the sorted keys of the canonical names, and of the targets of symbolic links in them: two names of one
// file must conflict. ok is false if a name is invalid, which the step must report, or if the run is over.
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

// mayFollow reports whether a path of the step may lead elsewhere after an earlier step.
func (s Step) mayFollow(earlier Step) bool {
	switch {
	case !earlier.Links || earlier.ReadOnly || len(s.Reads)+len(s.Writes) == 0:
		return false
	case !earlier.Known:
		return true
	}
	return overlap(earlier.Writes, s.Reads) || overlap(earlier.Writes, s.Writes)
}

// overlap reports whether a path of one list equals a path of the other list, or is inside one. Both are sorted lists
// of keys. The keys inside a directory directly follow its key, so one pass over both lists is enough.
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

// key returns a canonical path in a form in which the key of a directory is a prefix of exactly the keys inside it.
func key(path string) string {
	if path == "." {
		return ""
	}
	return strings.ReplaceAll(path, "/", "\x00") + "\x00"
}

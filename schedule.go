package millrace

import (
	"context"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/stage"
)

// schedule puts the steps into waves: all steps of a wave may run at the same time, and a wave begins when the one before
// is done. Without parallel, every step is a wave of its own.
//
// Levels are those of Kahn's algorithm over the edges that [Pipeline.edges] finds. Within a level, steps that
// only read run together, then each step that may write runs alone, so that its savepoint holds nobody else's
// changes.
func (p Pipeline) schedule(ctx context.Context, stage *stage.Stage) [][]int {
	if !p.options.Parallel {
		waves := make([][]int, len(p.steps))
		for i := range p.steps {
			waves[i] = []int{i}
		}
		return waves
	}
	before := p.edges(ctx, stage)
	level := make([]int, len(p.steps))
	deepest := 0
	for i := range p.steps {
		// Edges only lead from earlier steps to later ones, so one pass in order is Kahn's algorithm.
		for _, j := range before[i] {
			level[i] = max(level[i], level[j]+1)
		}
		deepest = max(deepest, level[i])
	}
	var waves [][]int
	for l := range deepest + 1 {
		var readers []int
		var writers [][]int
		for i, s := range p.steps {
			switch {
			case level[i] != l:
			case s.Action.Spec().ReadOnly:
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

// edges returns, for each step, the earlier steps that must be done before it: those it names, those its
// templates name, and those it could meet in the file system.
func (p Pipeline) edges(ctx context.Context, stage *stage.Stage) [][]int {
	before := make([][]int, len(p.steps))
	reach := make([]reach, len(p.steps))
	for i := range p.steps {
		for _, ref := range p.references(i) {
			before[i] = append(before[i], p.index[ref])
		}
		reach[i] = p.reachOf(ctx, i, stage)
		for j := range i {
			if reach[j].meets(reach[i]) {
				before[i] = append(before[i], j)
			}
		}
		slices.Sort(before[i])
		before[i] = slices.Compact(before[i])
	}
	return before
}

// references returns every step that a step names: its inputs, its condition, its templates.
func (p Pipeline) references(i int) []string {
	s := p.steps[i]
	refs := append(p.compiled[i].texts.Refs(), s.inputs()...)
	if ref := s.When.StepRef(); ref != "" {
		refs = append(refs, ref)
	}
	return refs
}

// reach is the part of the tree that a step can read and write.
type reach struct {
	reads, writes []string // keys, sorted
	known         bool     // otherwise it can be anything
	readOnly      bool
}

func (p Pipeline) reachOf(ctx context.Context, i int, stage *stage.Stage) reach {
	s := p.steps[i]
	r := reach{readOnly: s.Action.Spec().ReadOnly}
	t, ok := s.Action.(actions.Toucher)
	if !ok || len(s.inputs()) > 0 || len(p.compiled[i].texts.Refs()) > 0 {
		return r
	}
	reads, writes, known := t.Touches()
	if path := s.When.Path(); path != "" {
		reads = append(slices.Clone(reads), path)
	}
	if !known {
		return r
	}
	if r.reads, known = places(ctx, reads, stage); !known {
		return r
	}
	if r.writes, known = places(ctx, writes, stage); !known {
		return r
	}
	r.known = true
	return r
}

// places returns the keys of the canonical names, and of where symbolic links lead from them: two names of one file must meet.
// They are sorted. ok is false if a name is no good, which the step itself has to report, or if the run is over.
func places(ctx context.Context, names []string, stage *stage.Stage) (keys []string, ok bool) {
	for _, name := range names {
		canonical, err := stage.Canonical(name)
		if err != nil || ctx.Err() != nil {
			return nil, false
		}
		keys = append(keys, key(canonical))
		if resolved, err := stage.Resolve(canonical); err == nil && resolved != canonical {
			keys = append(keys, key(resolved))
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys), true
}

// meets reports whether the order of the two steps could matter.
func (r reach) meets(s reach) bool {
	switch {
	case r.readOnly && s.readOnly:
		return false
	case !r.known || !s.known:
		return true
	}
	return overlap(r.writes, s.reads) || overlap(r.writes, s.writes) || overlap(r.reads, s.writes)
}

// overlap reports whether a path of one list is, or lies in, one of the other. Both are lists of keys, sorted: all that lies in a
// directory follows that directory, so one pass over both finds out.
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

// key is a canonical path in a form in which the key of a directory begins the keys of all that lies in it, and no others.
func key(path string) string {
	if path == "." {
		return ""
	}
	return strings.ReplaceAll(path, "/", "\x00") + "\x00"
}

package millrace

import (
	"slices"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
)

// schedule puts the steps into waves: all steps of a wave may run at the same time, and a wave begins when the one before
// is done. Without parallel, every step is a wave of its own.
//
// Levels are those of Kahn's algorithm over the edges that [Pipeline.edges] finds. Within a level, steps that
// only read run together, then each step that may write runs alone, so that its savepoint holds nobody else's
// changes.
func (p Pipeline) schedule(stage *fsutil.Stage) [][]int {
	if !p.options.Parallel {
		waves := make([][]int, len(p.steps))
		for i := range p.steps {
			waves[i] = []int{i}
		}
		return waves
	}
	before := p.edges(stage)
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
func (p Pipeline) edges(stage *fsutil.Stage) [][]int {
	before := make([][]int, len(p.steps))
	reach := make([]reach, len(p.steps))
	for i, s := range p.steps {
		for _, ref := range p.references(s) {
			before[i] = append(before[i], p.index[ref])
		}
		reach[i] = p.reachOf(s, stage)
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

// reach is the part of the tree that a step can read and write.
type reach struct {
	reads, writes []string
	known         bool // otherwise it can be anything
	readOnly      bool
}

func (p Pipeline) reachOf(s Step, stage *fsutil.Stage) reach {
	r := reach{readOnly: s.Action.Spec().ReadOnly}
	t, ok := s.Action.(actions.Toucher)
	if !ok || len(s.inputs()) > 0 || len(p.templateRefs(s)) > 0 {
		return r
	}
	reads, writes, known := t.Touches()
	if path := s.When.Path(); path != "" {
		reads = append(slices.Clone(reads), path)
	}
	if !known {
		return r
	}
	if r.reads, known = places(reads, stage); !known {
		return r
	}
	if r.writes, known = places(writes, stage); !known {
		return r
	}
	r.known = true
	return r
}

// places returns the canonical names, and where symbolic links lead from them: two names of one file must meet. ok is
// false if a name is no good, which the step itself has to report.
func places(names []string, stage *fsutil.Stage) (all []string, ok bool) {
	for _, name := range names {
		canonical, err := stage.Canonical(name)
		if err != nil {
			return nil, false
		}
		all = append(all, canonical)
		if resolved, err := stage.Resolve(canonical); err == nil && resolved != canonical {
			all = append(all, resolved)
		}
	}
	return all, true
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

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool { return fsutil.Within(x, y) || fsutil.Within(y, x) })
	})
}

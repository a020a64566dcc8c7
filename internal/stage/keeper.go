package stage

import (
	"fmt"
	"slices"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
)

// maxDelta is the largest size of a delta in bytes. The bytes of files that were written as a whole are not in it.
const maxDelta = 256 << 20

// maxMatched is how many unchanged files a run may rest on, see [Keeper.RestOn].
const maxMatched = 20_000

// Keeper follows a stage and returns the changes since the last call, so that another process can build the same stage
// again, see [Restore]. A delta repeats nothing of earlier deltas: nodes, facts, bodies, pages and steps get numbers
// when they are first written. It is safe for concurrent use with the stage, but not with itself.
type Keeper struct {
	s      *Stage
	nodes  numbers[*node] // the root is number 0
	facts  numbers[*fact]
	pages  numbers[*page]
	bodies numbers[*body]
	steps  numbers[string]
	hashed []bool // of facts, by number: the hash was written
	marks  []mark // the first is the beginning
	// matched is how many facts were written because files were matched, and pending are facts that will be written for
	// that reason.
	matched int
	pending []*fact
	most    int // maxMatched
}

// mark is the moment of a delta: how many things of each kind there were.
type mark struct {
	log, taken, hides                  int
	nodes, facts, pages, bodies, steps int
	hashed                             []int // facts of earlier deltas whose hash came with this delta
	matched                            int
	digest                             deltaDigest
}

// numbers assigns numbers to things, in the order of their arrival.
type numbers[T comparable] struct {
	of  map[T]int
	all []T
}

// add assigns the next number to a thing that has no number.
func (n *numbers[T]) add(thing T) int {
	if n.of == nil {
		n.of = make(map[T]int)
	}
	i := len(n.all)
	n.of[thing] = i
	n.all = append(n.all, thing)
	return i
}

// has returns the number of a thing.
func (n *numbers[T]) has(thing T) (int, bool) {
	i, ok := n.of[thing]
	return i, ok
}

// cut removes the numbers from size on.
func (n *numbers[T]) cut(size int) {
	for _, thing := range n.all[size:] {
		delete(n.of, thing)
	}
	clear(n.all[size:])
	n.all = n.all[:size]
}

// NewKeeper returns a Keeper for the stage. A stage may have one Keeper. The first delta has everything that is staged.
func NewKeeper(s *Stage) *Keeper {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.low = len(s.log)
	k := &Keeper{s: s, most: maxMatched}
	k.nodes.add(s.root)
	k.marks = []mark{{nodes: 1}}
	return k
}

// Depth returns how many deltas lead to the state of the last delta. It is 0 before the first.
func (k *Keeper) Depth() int { return len(k.marks) - 1 }

// Savepoint returns the moment of the delta of that depth. Depth 0 is the beginning. A delta of that depth must exist.
func (k *Keeper) Savepoint(depth int) Savepoint { return Savepoint{k.marks[depth].log} }

// Delta returns the changes of the stage since the last delta, and the depth of that last delta. The moment of a delta
// is a savepoint too. If Delta fails, for example because the [Spill] is full, nothing counts as written.
func (k *Keeper) Delta() (data []byte, depth int, err error) {
	c := k.s.core
	if c.err != nil {
		return nil, 0, c.err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k.follow()
	last := k.marks[k.Depth()]
	w := &deltaWriter{Keeper: k, c: c}
	if err = w.gather(c.log[last.log:], last); err == nil {
		data = w.form(last)
		if len(data) > maxDelta {
			err = fmt.Errorf("a delta of the stage has %d bytes, %d are allowed: %w", len(data), maxDelta,
				names.ErrTooLarge)
		}
	}
	if err != nil {
		for _, i := range w.hashed {
			k.hashed[i] = false
		}
		k.cut(k.Depth())
		return nil, 0, err
	}
	c.turn++ // written bodies no longer change
	k.matched += len(k.pending)
	k.pending = nil
	k.mark(data, w.hashed)
	return data, k.Depth() - 1, nil
}

// mark records the moment.
func (k *Keeper) mark(data []byte, hashed []int) {
	c := k.s.core
	c.low = len(c.log)
	k.marks = append(k.marks, mark{
		log: len(c.log), taken: len(c.taken), hides: len(c.base.hiddenSince(0)),
		nodes: len(k.nodes.all), facts: len(k.facts.all), pages: len(k.pages.all), bodies: len(k.bodies.all),
		steps: len(k.steps.all), hashed: hashed, matched: k.matched, digest: digestOf(data),
	})
}

// follow returns to the last delta that was not rolled back.
func (k *Keeper) follow() {
	depth := k.Depth()
	for depth > 0 && k.marks[depth].log > k.s.low {
		depth--
	}
	if depth < k.Depth() {
		k.cut(depth)
		k.pending = nil
	}
	k.s.low = len(k.s.log)
}

// cut removes all numbers assigned after the delta of that depth.
func (k *Keeper) cut(depth int) {
	m := k.marks[depth]
	for _, later := range k.marks[depth+1:] {
		for _, i := range later.hashed {
			k.hashed[i] = false
		}
	}
	k.marks = slices.Delete(k.marks, depth+1, len(k.marks))
	k.nodes.cut(m.nodes)
	k.facts.cut(m.facts)
	k.pages.cut(m.pages)
	k.bodies.cut(m.bodies)
	k.steps.cut(m.steps)
	k.hashed = k.hashed[:m.facts]
	k.matched = m.matched
}

// RestOn makes the run rest on files that a step has matched without changing them: the next delta has their facts, for
// [Restore] to compare. It returns how many files were left out because the run has too many.
func (k *Keeper) RestOn(files []string) (left int) {
	c := k.s.core
	if c.err != nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k.follow()
	for _, name := range files {
		p, err := c.find(name, true, guard.Look)
		if err != nil || p.ent.n != nil || p.ent.kind() != change.File {
			continue // a staged file is written with its node
		}
		f := c.base.keep(p.ent.f)
		if _, known := k.facts.has(f); known {
			continue
		}
		if k.matched+len(k.pending) >= k.most {
			left++
			continue
		}
		k.pending = append(k.pending, f)
	}
	return left
}

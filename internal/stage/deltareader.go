package stage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"time"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/modes"
)

// ErrDelta means that the data is not a sequence of deltas of a stage.
var ErrDelta = errors.New("not the deltas of a stage")

func badDelta(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDelta, fmt.Sprintf(format, args...))
}

// delta is a decoded delta. Its numbers are checked when they are used.
type delta struct {
	parent deltaDigest
	depth  int
	clock  time.Time
	nonce  string
	seq    int
	steps  []string
	facts  []*fact // the facts to compare with
	sums   []factSum
	taken  []factSum
	hides  []string
	pages  []toldPage
	bodies []toldBody
	nodes  []toldNode
	links  []toldSlot
	metas  []toldMeta
	slots  []toldSlot
}

type factSum struct {
	fact int
	sum  change.Hash
}

type toldPage struct {
	off  int64
	size int
	sum  change.Hash
}

type toldBody struct {
	src              int // one more than the fact; 0 for pages
	like, head, tail int // like is one more than the body
	splices          []toldSplice
	size             int64
	pages            []int // one more than the page; 0 for zeros
}

type toldSplice struct {
	change.Splice
	by []toldOrigin // shared with the splice before if both are the same
}

type toldOrigin struct{ step, edit int }

type toldNode struct {
	from   int // one more than the fact; 0 for a node that was made
	kind   change.Kind
	target string
	meta   toldMeta // of a node that was made
}

type toldMeta struct {
	node      int
	mode      fs.FileMode
	time      int
	mtime     time.Time
	body      int
	by, moves toldStamps
}

type toldStamps struct {
	same int
	more []toldStamp
}

type toldStamp struct {
	toldOrigin
	ago int
}

type toldSlot struct {
	dir   int
	name  string
	node  int // one more than the node; 0 for none
	under int // one more than the fact; 0 for none
	ago   int
	toldRemoval
	below []toldBelow // in the base
}

// deltaReader reads a delta. After the first error all values are zero.
type deltaReader struct {
	rest []byte
	err  error
	last []toldOrigin // of the splice before
}

func (r *deltaReader) fail(what string) {
	if r.err == nil {
		r.err = badDelta("%s", what)
	}
	r.rest = nil
}

func (r *deltaReader) num64() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.fail("it ends in a number")
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// atMost reads a number of at most most.
func (r *deltaReader) atMost(most uint64, problem string) uint64 {
	n := r.num64()
	if n > most {
		r.fail(problem)
		return 0
	}
	return n
}

func (r *deltaReader) size64() int64 { return int64(r.atMost(maxFile, "a size is too large")) }
func (r *deltaReader) num() int      { return int(r.atMost(math.MaxInt32, "a number is too large")) }

func (r *deltaReader) signed() int64 {
	n, size := binary.Varint(r.rest)
	if size <= 0 {
		r.fail("it ends in a number")
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// count reads the length of a list whose items have at least so many bytes each: a list longer than the rest is
// refused.
func (r *deltaReader) count(least int) int {
	n := r.num64()
	if n > uint64(len(r.rest)/least) {
		r.fail("a list is longer than what follows")
		return 0
	}
	return int(n)
}

// raw returns the next n bytes, which are not copied.
func (r *deltaReader) raw(n int) []byte {
	if n > len(r.rest) {
		r.fail("it ends too early")
		return nil
	}
	data := r.rest[:n:n]
	r.rest = r.rest[n:]
	return data
}

func (r *deltaReader) text() string { return string(r.raw(r.count(1))) }

func (r *deltaReader) hash() (h change.Hash) {
	copy(h[:], r.raw(len(h)))
	return h
}

func (r *deltaReader) time() time.Time {
	sec, nano := r.signed(), r.num()
	if nano >= int(time.Second) {
		r.fail("a time is none")
	}
	return time.Unix(sec, int64(nano))
}

func (r *deltaReader) mode() fs.FileMode {
	mode := r.num64()
	if mode&^uint64(modes.PermBits) != 0 {
		r.fail("a mode has other bits")
	}
	return fs.FileMode(mode)
}

// listOf reads a list.
func listOf[T any](r *deltaReader, least int, read func() T) []T {
	n := r.count(least)
	if n == 0 {
		return nil
	}
	all := make([]T, 0, min(n, 1024))
	for i := 0; i < n && r.err == nil; i++ {
		all = append(all, read())
	}
	return all
}

// readDelta reads a delta.
func readDelta(data []byte) (*delta, error) {
	if len(data) > maxDelta {
		return nil, badDelta("one has %d bytes, %d are allowed", len(data), maxDelta)
	}
	r := &deltaReader{rest: data}
	if v := r.raw(1); len(v) == 1 && v[0] != deltaVersion {
		return nil, badDelta("one has version %d, this program knows %d", v[0], deltaVersion)
	}
	d := new(delta)
	copy(d.parent[:], r.raw(len(d.parent)))
	if d.depth = r.num(); d.depth == 0 && r.err == nil {
		d.clock, d.nonce = r.time(), r.text()
	}
	d.seq = r.num()
	d.steps = listOf(r, 1, r.text)
	d.facts = listOf(r, 4, r.fact)
	d.sums = listOf(r, 33, r.factSum)
	d.taken = listOf(r, 33, r.factSum)
	d.hides = listOf(r, 1, r.text)
	d.pages = listOf(r, 34, func() toldPage { return toldPage{off: r.size64(), size: r.num(), sum: r.hash()} })
	d.bodies = listOf(r, 2, r.body)
	d.nodes = listOf(r, 1, r.node)
	d.links = listOf(r, 3, func() toldSlot { return toldSlot{dir: r.num(), name: r.text(), node: r.num() + 1} })
	d.metas = listOf(r, 5, func() toldMeta { return r.meta(r.num()) })
	d.slots = listOf(r, 7, r.slot)
	if r.err == nil && len(r.rest) > 0 {
		r.fail("there is more behind it")
	}
	return d, r.err
}

func (r *deltaReader) fact() *fact {
	flags := r.num()
	f := &fact{kind: change.Kind(flags & factKind), path: r.text(), mode: r.mode(), mtime: r.time()}
	switch f.kind {
	case change.File:
		f.size = r.size64()
	case change.Symlink:
		f.target = r.text()
	case change.Dir:
	default:
		r.fail("a fact is about nothing")
	}
	if flags&factHasID != 0 {
		f.id = capability.Identity{Dev: r.num64(), Ino: r.num64(), CTime: int64(r.num64())}
	}
	if flags&factHasHash != 0 {
		h := r.hash()
		f.hash.Store(&h)
	}
	return f
}

func (r *deltaReader) factSum() factSum { return factSum{fact: r.num(), sum: r.hash()} }

func (r *deltaReader) body() (b toldBody) {
	if b.src = r.num(); b.src > 0 {
		b.like, b.head, b.tail = r.num(), r.num(), r.num()
		r.last = nil
		b.splices = listOf(r, 4, r.splice)
		return b
	}
	b.size = r.size64()
	n := (b.size + pageSize - 1) / pageSize
	if n > int64(len(r.rest)) {
		r.fail("a file has fewer pages than bytes")
		return b
	}
	b.pages = make([]int, n)
	for i := range b.pages {
		b.pages[i] = r.num()
	}
	return b
}

func (r *deltaReader) splice() (s toldSplice) {
	s.Off, s.Len = r.size64(), r.size64()
	if n := r.num(); n > 0 {
		s.Text = r.raw(n - 1)
	}
	if n := r.count(1); n > 0 {
		r.last = make([]toldOrigin, n-1)
		for i := range r.last {
			r.last[i] = r.origin()
		}
	}
	s.by = r.last
	return s
}

func (r *deltaReader) origin() toldOrigin {
	o := toldOrigin{step: r.num()}
	edit := r.signed()
	if edit < math.MinInt32 || edit > math.MaxInt32 {
		r.fail("an edit has no such number")
	}
	o.edit = int(edit)
	return o
}

func (r *deltaReader) stamps() []toldStamp {
	return listOf(r, 3, func() toldStamp { return toldStamp{r.origin(), r.num()} })
}

func (r *deltaReader) node() (n toldNode) {
	if n.from = r.num(); n.from == 0 {
		n.kind, n.target = change.Kind(r.num()&factKind), r.text()
		n.meta = r.meta(0)
	}
	return n
}

// meta reads a meta. Only the meta of a file has a body: one more than its number.
func (r *deltaReader) meta(node int) toldMeta {
	m := toldMeta{node: node, mode: r.mode(), time: r.num()}
	if m.time&timeMask == timeTold {
		m.mtime = r.time()
	}
	m.body = r.num()
	m.by.same, m.by.more = r.num(), r.stamps()
	m.moves.same, m.moves.more = r.num(), r.stamps()
	return m
}

func (r *deltaReader) slot() toldSlot {
	s := toldSlot{dir: r.num(), name: r.text(), node: r.num(), under: r.num(), ago: r.num(), toldRemoval: r.removal()}
	if s.gone&goneBelow != 0 {
		s.below = listOf(r, 3, func() toldBelow { return toldBelow{r.text(), r.removal()} })
	}
	return s
}

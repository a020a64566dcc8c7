package sed

// treeKind says what a node of a parsed pattern is.
type treeKind uint8

const (
	treeSet    treeKind = iota // one unit of a set
	treeStar                   // left, any number of times
	treeAlt                    // left or right; nil is the empty string
	treeCat                    // left, then right
	treeGroup                  // a group around left
	treeAnchor                 // the empty string where a constraint holds
	treeOpen                   // the beginning of a group
	treeClose                  // the end of a group
	treeEnd                    // the end of the pattern
)

// tree is a parsed pattern. Its shape is that of the C library, because which submatch is taken where several would do
// follows from the order of the nodes.
type tree struct {
	kind        treeKind
	left, right *tree
	set         int32      // of treeSet, an index of pattern.sets
	group       int32      // of treeGroup, treeOpen and treeClose, from 0
	when        constraint // of treeAnchor
	optional    bool       // a group that may be repeated or left out
	copied      bool       // made by an interval

	first, next *tree
	node        int32
}

// copyTree copies a tree for one more repetition.
func copyTree(t *tree) *tree {
	if t == nil {
		return nil
	}
	c := *t
	c.copied, c.optional = true, false
	c.left, c.right = copyTree(t.left), copyTree(t.right)
	return &c
}

func (t *tree) size() int {
	if t == nil {
		return 0
	}
	return 1 + t.left.size() + t.right.size()
}

// markOptional marks every copy of a group in t.
func (t *tree) markOptional(group int32) {
	if t == nil {
		return
	}
	if t.kind == treeGroup && t.group == group {
		t.optional = true
	}
	t.left.markOptional(group)
	t.right.markOptional(group)
}

// constraint is a set of conditions on what stands before and after a place.
type constraint uint8

const (
	prevWord constraint = 1 << iota
	prevNotWord
	prevNewline
	prevStart
	nextWord
	nextNotWord
	nextNewline
	nextEnd
)

const (
	lineFirst     = prevNewline
	lineLast      = nextNewline
	bufFirst      = prevStart
	bufLast       = nextEnd
	wordFirst     = prevNotWord | nextWord
	wordLast      = prevWord | nextNotWord
	insideWord    = prevWord | nextWord
	insideNotWord = prevNotWord | nextNotWord
	wordAny       = prevWord | prevNotWord | nextWord | nextNotWord
)

// context is what stands on one side of a place.
type context uint8

const (
	ctxWord    context = 1 << iota
	ctxNewline         // also where the buffer begins and ends
	ctxEdge            // the beginning, where it stands before; the end, where it stands after
)

// before reports whether what stands before a place satisfies c.
func (c constraint) before(x context) bool {
	return c&(prevWord|prevNotWord|prevNewline|prevStart) == 0 ||
		!(c&prevWord != 0 && x&ctxWord == 0 || c&prevNotWord != 0 && x&ctxWord != 0 ||
			c&prevNewline != 0 && x&ctxNewline == 0 || c&prevStart != 0 && x&ctxEdge == 0)
}

// after reports whether what stands after a place satisfies c.
func (c constraint) after(x context) bool {
	return c&(nextWord|nextNotWord|nextNewline|nextEnd) == 0 ||
		!(c&nextWord != 0 && x&ctxWord == 0 || c&nextNotWord != 0 && x&ctxWord != 0 ||
			c&nextNewline != 0 && x&ctxNewline == 0 || c&nextEnd != 0 && x&ctxEdge == 0)
}

package sed

import "slices"

// nfa is a pattern as nodes, in the order and with the copies that the C library makes: which way a match takes where there
// are several depends on both.
type nfa struct {
	nodes  []nfaNode
	sets   []spans
	start  int32
	groups int
	same   []int // for each group the one that has its place: ((x)) is one pair
	alts   bool
	clones map[cloneOf]int32 // the last copy that cloneAfter has made of a node with a constraint
	// fragile says that some anchor does not hold back what follows it, because an interval copied it. The C library then
	// finds matches that it cannot explain, and answers that there is none.
	fragile bool
}

// nfaNode is one node. It takes a unit of set and goes on at next, or takes nothing and goes on at any of edges, or ends.
type nfaNode struct {
	kind     treeKind
	set      int32
	next     int32
	edges    []int32 // ascending
	when     constraint
	group    int32
	optional bool
	copied   bool
	literal  bool // set is one character
	origin   int32
}

func (n *nfaNode) empty() bool { return n.kind != treeSet && n.kind != treeEnd }

// build makes the nodes of a parsed pattern. It is false where there would be more than max.
func build(p *patternParser, t *tree) (*nfa, bool) {
	n := &nfa{sets: p.sets, groups: int(p.groups), alts: p.alts, same: make([]int, p.groups), clones: make(map[cloneOf]int32)}
	for i := range n.same {
		n.same[i] = i
	}
	n.mergeGroups(t)
	t = openGroups(t)
	n.number(t)
	link(t)
	n.connect(t)
	n.start = t.first.node
	seen := make([]bool, len(n.nodes), 2*len(n.nodes))
	for i := int32(0); int(i) < len(n.nodes); i++ {
		if !n.inherit(i, &seen, p.maxNodes) {
			return nil, false
		}
	}
	n.clones = nil
	for i := range n.nodes {
		node := &n.nodes[i]
		if node.kind == treeAnchor && n.nodes[node.edges[0]].origin == node.edges[0] {
			n.fragile = true
		}
	}
	return n, true
}

// mergeGroups makes one group of two that have the same place.
func (n *nfa) mergeGroups(t *tree) {
	if t == nil {
		return
	}
	if t.kind == treeGroup && t.left != nil && t.left.kind == treeGroup {
		n.same[t.left.group] = n.same[t.group]
		t.left = t.left.left
	}
	n.mergeGroups(t.left)
	n.mergeGroups(t.right)
}

// openGroups replaces groups by what begins and ends them.
func openGroups(t *tree) *tree {
	if t == nil {
		return nil
	}
	t.left, t.right = openGroups(t.left), openGroups(t.right)
	if t.kind != treeGroup {
		return t
	}
	// These count as made anew, even where the group is a copy.
	open, end := *t, *t
	open.kind, open.left, open.copied = treeOpen, nil, false
	end.kind, end.left, end.copied = treeClose, nil, false
	right := &end
	if t.left != nil {
		right = &tree{kind: treeCat, left: t.left, right: &end}
	}
	return &tree{kind: treeCat, left: &open, right: right}
}

// number gives nodes to all of the tree but concatenations, children first.
func (n *nfa) number(t *tree) {
	if t == nil {
		return
	}
	n.number(t.left)
	n.number(t.right)
	if t.kind == treeCat {
		t.first, t.node = t.left.first, t.left.node
		return
	}
	t.first, t.node = t, int32(len(n.nodes))
	literal := t.kind == treeSet && len(n.sets[t.set]) == 1 && n.sets[t.set][0].lo == n.sets[t.set][0].hi
	n.nodes = append(n.nodes, nfaNode{
		kind: t.kind, set: t.set, next: -1, when: t.when, group: t.group,
		optional: t.optional, copied: t.copied, literal: literal, origin: t.node,
	})
}

// link finds what follows each tree.
func link(t *tree) {
	left, right := t.left, t.right
	switch {
	case t.kind == treeStar:
		left.next = t
	case t.kind == treeCat:
		left.next, right.next = right.first, t.next
	default:
		if left != nil {
			left.next = t.next
		}
		if right != nil {
			right.next = t.next
		}
	}
	if left != nil {
		link(left)
	}
	if right != nil {
		link(right)
	}
}

func (n *nfa) connect(t *tree) {
	if t == nil {
		return
	}
	n.connect(t.left)
	n.connect(t.right)
	node := &n.nodes[t.node]
	switch t.kind {
	case treeCat, treeEnd:
	case treeStar, treeAlt:
		to := func(side *tree) int32 {
			if side != nil {
				return side.first.node
			}
			return t.next.node
		}
		node.edges = []int32{to(t.left), to(t.right)}
		slices.Sort(node.edges)
		node.edges = slices.Compact(node.edges)
	case treeSet:
		node.next = t.next.node
	default:
		node.edges = []int32{t.next.node}
	}
}

// inherit visits what can be reached from a node without taking anything, and gives what follows an anchor the anchor's
// constraint: copies of the nodes, so that the others stay as they are. It is false where there are too many.
func (n *nfa) inherit(i int32, seen *[]bool, limit int) bool {
	if (*seen)[i] {
		return true
	}
	(*seen)[i] = true
	if node := &n.nodes[i]; node.when != 0 && len(node.edges) > 0 && !n.nodes[node.edges[0]].copied {
		if !n.cloneAfter(i, i, i, node.when, limit) {
			return false
		}
		for len(*seen) < len(n.nodes) {
			*seen = append(*seen, false)
		}
	}
	if n.nodes[i].empty() {
		for _, e := range n.nodes[i].edges {
			if !n.inherit(e, seen, limit) {
				return false
			}
		}
	}
	return true
}

// cloneOf is a node and the constraint of a copy of it.
type cloneOf struct {
	node int32
	when constraint
}

// clone copies a node and puts a constraint on the copy.
func (n *nfa) clone(i int32, when constraint) int32 {
	c := n.nodes[i]
	c.edges = nil
	c.when |= when
	c.copied, c.origin = true, i
	id := int32(len(n.nodes))
	n.nodes = append(n.nodes, c)
	n.clones[cloneOf{i, c.when}] = id
	return id
}

// cloneAfter copies the nodes after from, up to those that take a unit, and lets copy, which is from or a copy of it, lead to
// the copies. Loops end at root, the anchor it began with.
func (n *nfa) cloneAfter(from, copy, root int32, when constraint, limit int) bool {
	for {
		edges := n.nodes[from].edges
		if len(n.nodes) > limit {
			return false
		}
		switch len(edges) {
		case 0:
			n.nodes[copy].next = n.nodes[from].next
			return true
		case 1:
			if from == root && copy != from {
				n.nodes[copy].edges = []int32{edges[0]}
				return true
			}
			when |= n.nodes[from].when
			to := n.clone(edges[0], when)
			n.nodes[copy].edges = []int32{to}
			from, copy = edges[0], to
		default:
			first, ok := n.clones[cloneOf{edges[0], when}]
			if !ok {
				first = n.clone(edges[0], when)
				n.nodes[copy].edges = []int32{first}
				if !n.cloneAfter(edges[0], first, root, when, limit) {
					return false
				}
			}
			second := n.clone(edges[1], when)
			n.nodes[copy].edges = []int32{min(first, second), max(first, second)}
			from, copy = edges[1], second
		}
	}
}

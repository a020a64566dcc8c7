package textdiff

import "bytes"

// diffBox appends the cores within a box. at is before the box and is moved to its end.
func (t texts) diffBox(cores []Core, b Span, at *cursor) []Core {
	o, n := t.old.shown(b.Old, b.OldEnd), t.new.shown(b.New, b.NewEnd)
	head, tail := common(o, n) // without the common lines at the beginning and at the end
	in := texts{old: Bytes(o), new: Bytes(n)}.widen(Span{head, len(o) - tail, head, len(n) - tail}, 0, len(o))
	o, n = o[in.Old:in.OldEnd], n[in.New:in.NewEnd]
	b = Span{b.Old + in.Old, b.Old + in.OldEnd, b.New + in.New, b.New + in.NewEnd}
	at.common(t.old, b.Old)
	if len(o) == 0 && len(n) == 0 {
		return cores
	}
	if len(o) == 0 || len(n) == 0 {
		c := Core{Span: b, OldLine: at.oldLine, OldLines: countLines(o), NewLine: at.newLine, NewLines: countLines(n)}
		*at = cursor{b.OldEnd, c.OldLine + c.OldLines, b.NewEnd, c.NewLine + c.NewLines}
		return append(cores, c)
	}
	oldAt, newAt := split(o), split(n)
	e := newEngine(string(o), string(n), oldAt, newAt)
	e.over = t.over
	e.run(0, len(e.a), 0, len(e.b), 0)

	// Unmarked lines of both sides are the common lines, in the same order: walk through them in parallel.
	i, j := 0, 0
	for i < len(e.deleted) || j < len(e.inserted) {
		if i < len(e.deleted) && j < len(e.inserted) && !e.deleted[i] && !e.inserted[j] {
			i, j = i+1, j+1
			continue
		}
		i0, j0 := i, j
		for i < len(e.deleted) && e.deleted[i] {
			i++
		}
		for j < len(e.inserted) && e.inserted[j] {
			j++
		}
		cores = append(cores, Core{
			Span:    Span{b.Old + oldAt[i0], b.Old + oldAt[i], b.New + newAt[j0], b.New + newAt[j]},
			OldLine: at.oldLine + i0, OldLines: i - i0, NewLine: at.newLine + j0, NewLines: j - j0,
		})
	}
	*at = cursor{b.OldEnd, at.oldLine + len(e.deleted), b.NewEnd, at.newLine + len(e.inserted)}
	return cores
}

// split returns the offsets of the lines of text, and the end of text.
func split(text []byte) []int {
	at := make([]int, 1, countLines(text)+1)
	for line := range bytes.Lines(text) {
		at = append(at, at[len(at)-1]+len(line))
	}
	return at
}

// newEngine prepares the comparison of two texts whose lines begin at oldAt and newAt. Lines that are in only one text
// are marked as changed at once: no common sequence can contain them.
func newEngine(old, new string, oldAt, newAt []int) *engine {
	n, m := len(oldAt)-1, len(newAt)-1
	// One copy of each text, made by the caller, has the keys of all its lines. Room for all lines is not allocated in
	// advance: very many lines are usually the same few.
	ids := make(map[string]int32, min(n, 1<<12))
	oldIDs := make([]int32, n)
	for i := range n {
		line := old[oldAt[i]:oldAt[i+1]]
		id, ok := ids[line]
		if !ok {
			id = int32(len(ids))
			ids[line] = id
		}
		oldIDs[i] = id
	}
	e := &engine{deleted: make([]bool, n), inserted: make([]bool, m), renumber: make([]int32, len(ids))}
	common := make([]bool, len(ids))
	for j := range m {
		id, ok := ids[new[newAt[j]:newAt[j+1]]]
		if !ok {
			e.inserted[j] = true
			continue
		}
		common[id] = true
		e.b = append(e.b, id)
		e.bLine = append(e.bLine, int32(j))
	}
	for i, id := range oldIDs {
		if !common[id] {
			e.deleted[i] = true
			continue
		}
		e.a = append(e.a, id)
		e.aLine = append(e.aLine, int32(i))
	}
	return e
}

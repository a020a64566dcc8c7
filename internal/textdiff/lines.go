package textdiff

// diffBox appends the cores within a box. at is before the box and is moved behind it.
func diffBox(cores []core, old, new *source, b box, at *cursor) []core {
	o, n := old.take(b.old, b.oldEnd), new.take(b.new, b.newEnd)
	t := trim(o, n, b)
	o, n = o[t.old-b.old:t.oldEnd-b.old], n[t.new-b.new:t.newEnd-b.new]
	b = t
	at.common(old, b.old)
	if len(o) == 0 && len(n) == 0 {
		return cores
	}
	if len(o) == 0 || len(n) == 0 {
		c := core{
			oldLine: at.oldLine, oldN: countLines(o), newLine: at.newLine, newN: countLines(n),
			oldOff: b.old, oldEnd: b.oldEnd, newOff: b.new, newEnd: b.newEnd,
		}
		at.pass(c)
		return append(cores, c)
	}
	oldAt, newAt := split(o), split(n)
	e := newEngine(string(o), string(n), oldAt, newAt)
	e.over = old.over
	e.run(0, len(e.a), 0, len(e.b), 0)

	// Unmarked lines of both sides are the common ones, in the same order: walk them in step.
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
		cores = append(cores, core{
			oldLine: at.oldLine + i0, oldN: i - i0, newLine: at.newLine + j0, newN: j - j0,
			oldOff: b.old + oldAt[i0], oldEnd: b.old + oldAt[i], newOff: b.new + newAt[j0], newEnd: b.new + newAt[j],
		})
	}
	*at = cursor{b.oldEnd, at.oldLine + len(e.deleted), b.newEnd, at.newLine + len(e.inserted)}
	return cores
}

// split returns where the lines of text begin, and the end of text.
func split(text []byte) []int {
	at := make([]int, 1, countLines(text)+1)
	for at[len(at)-1] < len(text) {
		at = append(at, lineEnd(text, at[len(at)-1]))
	}
	return at
}

// newEngine prepares the comparison of two texts whose lines begin at oldAt and newAt. Lines that only one text has are
// marked as changed at once: no common sequence can hold them.
func newEngine(old, new string, oldAt, newAt []int) *engine {
	n, m := len(oldAt)-1, len(newAt)-1
	// One copy of each text, made by the caller, serves as the keys of all its lines.
	// Room for all of them is not made at once: very many lines are mostly the same few.
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

// pass moves the cursor behind a core that begins where the cursor is.
func (c *cursor) pass(x core) {
	*c = cursor{x.oldEnd, x.oldLine + x.oldN, x.newEnd, x.newLine + x.newN}
}

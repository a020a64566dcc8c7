package sed

// repeat reads a repetition of t, which stands at p.tok, and what follows it.
func (p *patternParser) repeat(t *tree) *tree {
	low, high := 0, -1
	switch p.tok.kind {
	case tokPlus:
		low = 1
	case tokQuestion:
		high = 1
	case tokInterval:
		if low, high = p.interval(); p.err != "" {
			return nil
		}
	}
	p.next(false)
	if t == nil || low == 0 && high == 0 {
		return nil
	}
	if high != -1 && high > p.maxNodes || low > p.maxNodes {
		return p.fail(errTooBig)
	}
	// x{2,4} is x x ((x)?x)?, and x{2,} is x x x*.
	var head *tree
	if low > 0 {
		head = t
		for range low - 1 {
			t = p.copy(t)
			head = p.join(head, t)
		}
		if low == high {
			return head
		}
		t = p.copy(t)
	}
	if t == nil { // too large
		return nil
	}
	if t.kind == treeGroup {
		t.markOptional(t.group)
	}
	kind := treeAlt
	if high == -1 {
		kind = treeStar
	}
	tail := p.pair(kind, t, nil)
	for i := low + 2; i <= high && p.err == ""; i++ {
		t = p.copy(t)
		tail = p.pair(treeAlt, p.join(tail, t), nil)
	}
	return p.join(head, tail)
}

// interval reads what stands within { and }; high is -1 for no limit. Afterwards p.tok is the }.
func (p *patternParser) interval() (low, high int) {
	low, ok := p.number()
	if !ok {
		return p.badInterval()
	}
	comma := p.tok.kind == tokChar && p.tok.char == ','
	switch {
	case low == -1 && !comma:
		p.fail(errInterval)
		return 0, 0
	case low == -1:
		low = 0
	}
	high = low
	if p.tok.kind != tokIntervalEnd {
		if high, ok = p.number(); !comma || !ok {
			return p.badInterval()
		}
	}
	switch {
	case p.tok.kind != tokIntervalEnd, high != -1 && low > high:
		p.fail(errInterval)
	case max(low, high) > maxRepeat:
		p.fail(errTooBig)
	}
	return low, high
}

func (p *patternParser) badInterval() (low, high int) {
	if p.tok.kind == tokEnd {
		p.fail(errUnmatchedBrace)
	} else {
		p.fail(errInterval)
	}
	return 0, 0
}

// number reads up to a comma or the end of the interval. It is -1 where there is none, and not ok where there is
// something else or the pattern ends.
func (p *patternParser) number() (n int, ok bool) {
	n, ok = -1, true
	for {
		p.next(false)
		switch u := p.tok.char; {
		case p.tok.kind == tokEnd:
			return n, false
		case p.tok.kind == tokIntervalEnd, u == ',':
			return n, ok
		case p.tok.kind != tokChar || u < '0' || '9' < u:
			ok = false
		default:
			n = min(maxRepeat+1, max(n, 0)*10+int(u-'0'))
		}
	}
}

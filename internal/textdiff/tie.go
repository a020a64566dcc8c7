package textdiff

// tie finds the splices that cores come from, by their spans. It goes through both lists at once, each a way from the beginning of both
// texts to their end, and cuts where the ways meet.
func tie(cores []Core, spans []Span) {
	for i, j := 0, 0; i < len(cores) || j < len(spans); {
		c0, r0 := i, j
		end, added := 0, 0 // how far in the old text, and how much longer cores made the new one than spans
		for i < len(cores) || j < len(spans) {
			isCore := i < len(cores) && (j == len(spans) || cores[i].begins(spans[j]))
			var next int
			if isCore {
				next = cores[i].Old
			} else {
				next = spans[j].Old
			}
			if (i > c0 || j > r0) && added == 0 && end <= next {
				break
			}
			if isCore {
				c := cores[i]
				end = max(end, c.OldEnd)
				added += c.grows()
				i++
			} else {
				end = max(end, spans[j].OldEnd)
				added -= spans[j].grows()
				j++
			}
		}
		for k := c0; k < i; k++ {
			cores[k].From, cores[k].To = r0, j
		}
	}
}

// begins reports whether a core begins before a span, in the old text or, where several changes are at one place of
// that, in the new one.
func (s Span) begins(before Span) bool {
	return s.Old < before.Old || s.Old == before.Old && s.New < before.New
}

// grows returns how much longer the new bytes are than the old ones.
func (s Span) grows() int { return (s.NewEnd - s.New) - (s.OldEnd - s.Old) }

package textdiff

// tie finds the splices from which cores come, by their spans. It walks both lists at the same time, each a way from
// the beginning of both texts to their end, and cuts where the ways meet.
func tie(cores []Core, spans []Span) {
	for i, j := 0, 0; i < len(cores) || j < len(spans); {
		c0, s0 := i, j
		end, added := 0, 0 // end in the old text, and how much longer the cores made the new text than the spans
		for i < len(cores) || j < len(spans) {
			var next Span
			isCore := i < len(cores) && (j == len(spans) || cores[i].begins(spans[j]))
			if isCore {
				next = cores[i].Span
			} else {
				next = spans[j]
			}
			if (i > c0 || j > s0) && added == 0 && end <= next.Old {
				break
			}
			end = max(end, next.OldEnd)
			if isCore {
				added += next.grows()
				i++
			} else {
				added -= next.grows()
				j++
			}
		}
		for k := c0; k < i; k++ {
			cores[k].From, cores[k].To = s0, j
		}
	}
}

// begins reports whether a core begins before a span in the old text or, if several changes are at the same place
// there, in the new text.
func (s Span) begins(before Span) bool {
	return s.Old < before.Old || s.Old == before.Old && s.New < before.New
}

// grows returns how much longer the new bytes are than the old bytes.
func (s Span) grows() int { return (s.NewEnd - s.New) - (s.OldEnd - s.Old) }

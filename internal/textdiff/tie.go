package textdiff

// Core is one run of changed lines of a hunk, with no unchanged line in it: replacing old[OldOff:OldEnd] by
// new[NewOff:NewEnd] applies it.
//
// It comes from the regions [From, To) of the list that [Hunks] was given. Their bytes need not be its own: a change
// can stand a few lines lower than where it was made, and two that lie side by side can share lines. But between the
// same two places of both texts, regions and core do the same. Where no such place lies between some cores, all of them
// have the same regions, and only together do what these do.
type Core struct {
	OldOff, OldEnd int
	NewOff, NewEnd int
	From, To       int
}

// tie finds the regions that cores come from. It goes through both lists at once, each a way from the beginning of both
// texts to their end, and cuts where the ways meet.
func tie(cores []core, regions []Region) {
	for i, j := 0, 0; i < len(cores) || j < len(regions); {
		c0, r0 := i, j
		end, added := 0, 0 // how far in the old text, and how much longer cores made the new one than regions
		for i < len(cores) || j < len(regions) {
			core := i < len(cores) && (j == len(regions) || cores[i].begins(regions[j]))
			var next int
			if core {
				next = cores[i].oldOff
			} else {
				next = regions[j].OldOff
			}
			if (i > c0 || j > r0) && added == 0 && end <= next {
				break
			}
			if core {
				c := cores[i]
				end = max(end, c.oldEnd)
				added += (c.newEnd - c.newOff) - (c.oldEnd - c.oldOff)
				i++
			} else {
				r := regions[j]
				end = max(end, r.OldOff+r.OldLen)
				added -= r.NewLen - r.OldLen
				j++
			}
		}
		for k := c0; k < i; k++ {
			cores[k].from, cores[k].to = r0, j
		}
	}
}

// begins reports whether a core begins before a region, in the old text or, where several changes are at one place of
// that, in the new one.
func (c core) begins(before Region) bool {
	return c.oldOff < before.OldOff || c.oldOff == before.OldOff && c.newOff < before.NewOff
}

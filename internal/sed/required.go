package sed

import "slices"

// required returns the longest text that every match of the pattern contains.
func required(p *patternParser, t *tree) []byte {
	var best, run []byte
	end := func() {
		if len(run) > len(best) {
			best = slices.Clone(run)
		}
		run = run[:0]
	}
	var walk func(t *tree)
	walk = func(t *tree) {
		if t == nil {
			return
		}
		switch t.kind {
		case treeCat:
			walk(t.left)
			walk(t.right)
		case treeGroup:
			walk(t.left)
		case treeSet:
			s := p.sets[t.set]
			if len(s) != 1 || s[0].lo != s[0].hi {
				end()
				return
			}
			if p.bytes {
				run = append(run, byte(s[0].lo))
			} else {
				run = encode(run, s[0].lo)
			}
		case treeAnchor:
		default:
			end()
		}
	}
	walk(t)
	end()
	return best
}

package match

import (
	"strings"
)

// maxPrefixCost is what it may cost to look for prefixes, see [cost].
const maxPrefixCost = 0.4

// startWith sets the prefixes, if they are worth looking for: every match begins with one of the texts.
func (m *machine) startWith(set []text) {
	if m.anchored || cost(set) > maxPrefixCost {
		return
	}
	var all []searcher
	for _, t := range set {
		switch {
		case m.skipCR && strings.Contains(t.s, "\n"):
			return
		case !t.fold:
			all = append(all, newFinder(t.s))
		case strings.ContainsAny(t.s, "ks"):
			return // what these also stand for is longer
		default:
			all = append(all, newFoldFinder(t.s))
		}
	}
	m.prefix = all
}

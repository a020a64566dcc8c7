package match

import (
	"regexp/syntax"
	"strings"
)

// maxPrefixCost is what it may cost to look for prefixes, see [cost].
const maxPrefixCost = 0.4

// prefixes returns searchers for texts one of which every match of the regular expression begins with, nil if there
// are none that are worth looking for. With anyEnd, "\r\n" may stand in the file where a match has "\n".
func prefixes(re *syntax.Regexp, anyEnd bool) []searcher {
	const deepest = 8
	set, _ := beginnings(re, deepest)
	if cost(set) > maxPrefixCost {
		return nil
	}
	var all []searcher
	for _, t := range set {
		switch {
		case anyEnd && strings.Contains(t.s, "\n"):
			return nil
		case !t.fold:
			all = append(all, newFinder(t.s))
		case strings.ContainsAny(t.s, "ks"):
			return nil // what these also stand for is longer
		default:
			all = append(all, newFoldFinder(t.s))
		}
	}
	return all
}

// beginnings returns texts one of which every match begins with, and whether that is all that can match.
func beginnings(re *syntax.Regexp, depth int) (set []text, all bool) {
	nothing := []text{{}}
	if depth == 0 {
		return nothing, false
	}
	switch re.Op {
	case syntax.OpCapture:
		return beginnings(re.Sub[0], depth-1)
	case syntax.OpPlus:
		set, _ = beginnings(re.Sub[0], depth-1)
		return set, false
	case syntax.OpConcat:
		set = nothing
		for _, sub := range re.Sub {
			next, all := beginnings(sub, depth-1)
			longer, ok := product(set, next)
			if !ok {
				return set, false
			}
			if set = longer; !all {
				return set, false
			}
		}
		return set, true
	case syntax.OpAlternate:
		all = true
		for _, sub := range re.Sub {
			next, whole := beginnings(sub, depth-1)
			all = all && whole
			if set = append(set, next...); len(set) > maxRequired {
				return nothing, false
			}
		}
		return set, all
	case syntax.OpLiteral:
		set = nothing
		for _, c := range re.Rune {
			one, ok := runeText(c, re.Flags&syntax.FoldCase != 0)
			if !ok {
				return set, false
			}
			longer, ok := product(set, []text{one})
			if !ok {
				return set, false
			}
			set = longer
		}
		return set, true
	}
	if t := textsOf(re); t.exact != nil {
		return t.exact, true
	}
	return nothing, false
}

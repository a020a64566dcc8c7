package match

import (
	"math"
	"regexp/syntax"
	"strings"
)

// required returns *finders for texts of which every match contains one. None means that nothing is known. With
// anyEnd, "\r\n" may stand in the file where a match has "\n".
func required(set []text, anyEnd bool) []*finder {
	var folded []rune // letters with a third form, which is not ASCII
	all := make([]*finder, 0, len(set)+2)
	for _, t := range set {
		if anyEnd {
			t.s = longestLine(t.s)
		}
		switch {
		case t.s == "":
			return nil
		case !t.fold:
			all = append(all, newFinder(t.s))
			continue
		case strings.Contains(t.s, "k"):
			folded = append(folded, '\u212a')
		}
		if strings.Contains(t.s, "s") {
			folded = append(folded, '\u017f')
		}
		all = append(all, newFoldFinder(t.s))
	}
	// A match with one of those in place of the ASCII letter contains at least that.
	for i, r := range folded {
		if !strings.ContainsRune(string(folded[:i]), r) {
			all = append(all, newFinder(string(r)))
		}
	}
	return all
}

// soleText returns a *finder that finds the matches of the regular expression, if they are all one text, or nil.
func soleText(re *syntax.Regexp) *finder {
	if re.Op != syntax.OpLiteral {
		return nil
	}
	if re.Flags&syntax.FoldCase == 0 {
		for _, r := range re.Rune {
			if _, ok := runeText(r, false); !ok {
				return nil
			}
		}
		return newFinder(string(re.Rune))
	}
	set := textsOf(re).exact
	if len(set) != 1 || strings.ContainsAny(set[0].s, "ks") {
		return nil
	}
	return newFoldFinder(set[0].s)
}

// longestLine returns the longest part of s without a newline.
func longestLine(s string) string {
	longest := ""
	for line := range strings.SplitSeq(s, "\n") {
		if len(line) > len(longest) {
			longest = line
		}
	}
	return longest
}

// rarer returns the one of two sets of texts that takes less time to look for. A set with the empty text is of no use.
func rarer(a, b []text) []text {
	if cost(b) < cost(a) {
		return b
	}
	return a
}

// cost estimates how long it takes to look for a set of texts, in nanoseconds for each byte. It is infinite if that
// tells nothing.
func cost(set []text) float64 {
	const pass, stop, line = 0.04, 10, 150 // for each byte; for a place with the rarest byte; for a line with the text
	if len(set) == 0 {
		return math.Inf(1)
	}
	sum := 0.0
	for _, t := range set {
		if t.s == "" {
			return math.Inf(1)
		}
		rarest, passes := 1.0, 1.0
		hits := 1.0
		for i := range len(t.s) {
			c := frequency(t.s[i])
			if upper := asciiUpper(t.s[i]); t.fold && upper != t.s[i] {
				c += frequency(upper)
				passes = 2
			}
			rarest = min(rarest, c)
			hits *= min(1, 4*c) // letters are not independent of each other
		}
		sum += passes*pass + rarest*stop + min(hits/4, rarest)*line
	}
	return sum
}

// maxPrefixCost is what it may cost to look for prefixes, see [cost].
const maxPrefixCost = 0.4

// startWith sets the prefixes, if they are worth looking for: every match begins with one of the texts.
func (m *machine) startWith(set []text) {
	if m.anchored || cost(set) > maxPrefixCost {
		return
	}
	var all []*finder
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

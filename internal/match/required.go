package match

import (
	"math"
	"regexp/syntax"
	"strings"
)

// required returns finders for texts of which every match contains one. An empty result means that no such texts are
// known. With anyEnd, the file may have "\r\n" where a match has "\n".
func required(set []text, anyEnd bool) []*finder {
	third := ""
	all := make([]*finder, 0, len(set)+2)
	for _, t := range set {
		if anyEnd {
			t.s = longestLine(t.s)
		}
		if t.s == "" {
			return nil
		}
		all = append(all, finderOf(t.s, t.fold))
		if t.fold {
			third += t.s
		}
	}
	// A match may have the third form of a letter, which is not ASCII, in place of the ASCII letter. Such a match contains
	// at least that form.
	if strings.Contains(third, "k") {
		all = append(all, newFinder("\u212a"))
	}
	if strings.Contains(third, "s") {
		all = append(all, newFinder("\u017f"))
	}
	return all
}

// soleText returns a finder of the matches of the regular expression if all matches are the same text, or nil.
func soleText(re *syntax.Regexp) *finder {
	if re.Op != syntax.OpLiteral {
		return nil
	}
	var sole strings.Builder
	fold := false
	for _, r := range re.Rune {
		one, ok := runeText(r, re.Flags&syntax.FoldCase != 0)
		if !ok || one.fold && (one.s == "k" || one.s == "s") {
			return nil
		}
		sole.WriteString(one.s)
		fold = fold || one.fold
	}
	return finderOf(sole.String(), fold)
}

func longestLine(s string) string {
	longest := ""
	for line := range strings.SplitSeq(s, "\n") {
		if len(line) > len(longest) {
			longest = line
		}
	}
	return longest
}

// rarer returns the set of texts that takes less time to look for. A set with the empty text is useless.
func rarer(a, b []text) []text {
	if cost(b) < cost(a) {
		return b
	}
	return a
}

// cost estimates the time to look for a set of texts, in nanoseconds for each byte. It is infinite if the set is
// useless.
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

// maxPrefixCost is the largest cost of looking for prefixes, see [cost].
const maxPrefixCost = 0.4

// startWith sets the prefixes, if they are worth looking for. Every match must begin with one of the texts.
func (m *machine) startWith(set []text) {
	if m.anchored || cost(set) > maxPrefixCost {
		return
	}
	var all []*finder
	for _, t := range set {
		switch {
		case m.skipCR && strings.Contains(t.s, "\n"):
			return
		case t.fold && strings.ContainsAny(t.s, "ks"):
			return // the other forms of these letters are longer
		}
		all = append(all, finderOf(t.s, t.fold))
	}
	m.prefix = all
}

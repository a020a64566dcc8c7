package match

import (
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

// text is a piece of text that a match contains.
type text struct {
	s    string
	fold bool // in any case; s is in lower case then, ASCII, without k and s
}

// maxRequired is how many texts are looked for side by side. More of them cost as much as the regular expression.
const maxRequired = 8

// required returns searchers such that every match of the regular expression contains the text of at least one. None
// means that nothing is known. With anyEnd, "\r\n" may stand in the file where a match has "\n".
func required(re *syntax.Regexp, anyEnd bool) []searcher {
	set := requiredTexts(re)
	all := make([]searcher, 0, len(set))
	for _, t := range set {
		if anyEnd {
			t.s = longestLine(t.s)
		}
		if t.s == "" {
			return nil
		}
		if t.fold {
			all = append(all, newFoldFinder(t.s))
		} else {
			all = append(all, newFinder(t.s))
		}
	}
	return all
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

// requiredTexts returns texts of which every match of re contains at least one, nil if it finds none.
func requiredTexts(re *syntax.Regexp) []text {
	switch re.Op {
	case syntax.OpLiteral:
		return literalText(re)
	case syntax.OpCapture, syntax.OpPlus:
		return requiredTexts(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return requiredTexts(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []text
		for _, sub := range re.Sub {
			if set := requiredTexts(sub); score(set) > score(best) {
				best = set
			}
		}
		return best
	case syntax.OpAlternate:
		var union []text
		for _, sub := range re.Sub {
			set := requiredTexts(sub)
			if union = append(union, set...); len(set) == 0 || len(union) > maxRequired {
				return nil
			}
		}
		return union
	}
	return nil
}

// literalText returns the text of a literal, or of its longest part that can be looked for without regard to case.
func literalText(re *syntax.Regexp) []text {
	for _, r := range re.Rune {
		// A surrogate or the replacement character would also stand for bytes that are not valid UTF-8.
		if r == utf8.RuneError || !utf8.ValidRune(r) {
			return nil
		}
	}
	if re.Flags&syntax.FoldCase == 0 {
		return []text{{s: string(re.Rune)}}
	}
	var best, run []byte
	for _, r := range re.Rune {
		low := unicode.ToLower(r)
		if r >= utf8.RuneSelf || low >= utf8.RuneSelf || low == 'k' || low == 's' {
			run = nil
			continue
		}
		if run = append(run, byte(low)); len(run) > len(best) && len(run) <= maxFold {
			best = run
		}
	}
	if len(best) == 0 {
		return nil
	}
	return []text{{s: string(best), fold: true}}
}

// score says how much a set of texts helps to leave files out: the shortest text matters most, then how rare its bytes
// are, and each further text makes it worse.
func score(set []text) int {
	if len(set) == 0 {
		return 0
	}
	worst := 1 << 30
	for _, t := range set {
		rarest := 255
		for i := range len(t.s) {
			rarest = min(rarest, int(byteRank[t.s[i]]))
		}
		worst = min(worst, 1+255-rarest+64*min(len(t.s), 16))
	}
	return max(1, worst-48*(len(set)-1))
}

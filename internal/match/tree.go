package match

import (
	"regexp/syntax"
	"slices"
)

// traits are properties of all matches of a regular expression, derived from its syntax.
type traits struct {
	endLine        bool // it has a $ in multi-line mode
	newline        bool // a match may contain a newline
	takesCR        bool // a match may contain a \r, though the expression does not name it
	empty          bool // a match may be empty, so that it could be between \r and \n
	oneLine        bool // no match contains a newline, or depends on the begin or end of the whole text
	carriageReturn bool // it names \r, alone or in a class of characters
	looksAtText    bool // it has an assertion about the begin or end of the whole text
}

// seesLineEnds reports whether it matters for a match that "\r\n" is one line end.
func (t traits) seesLineEnds() bool { return t.endLine || t.newline || t.takesCR || t.empty }

func traitsOf(re *syntax.Regexp) traits {
	t := traits{oneLine: true, empty: canBeEmpty(re)}
	t.add(re)
	return t
}

func (t *traits) add(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpBeginText, syntax.OpEndText:
		t.oneLine, t.looksAtText = false, true
	case syntax.OpEndLine:
		t.endLine = true
	case syntax.OpAnyChar:
		t.oneLine, t.newline, t.takesCR = false, true, true
	case syntax.OpAnyCharNotNL:
		t.takesCR = true
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			t.newline = t.newline || r == '\n'
			t.oneLine = t.oneLine && r != '\n'
			t.carriageReturn = t.carriageReturn || r == '\r'
		}
	case syntax.OpCharClass:
		t.newline = t.newline || inClass(re.Rune, '\n')
		t.oneLine = t.oneLine && !inClass(re.Rune, '\n')
		// A class in which \r is treated unlike its neighbours names it. \s and \S, and classes such as [^x], do not.
		cr := inClass(re.Rune, '\r')
		if cr != inClass(re.Rune, '\r'-1) && cr != inClass(re.Rune, '\r'+1) {
			t.carriageReturn = true
		}
		t.takesCR = t.takesCR || cr
	}
	for _, sub := range re.Sub {
		t.add(sub)
	}
}

func inClass(ranges []rune, r rune) bool {
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i] <= r && r <= ranges[i+1] {
			return true
		}
	}
	return false
}

// canBeEmpty reports whether a match may be empty, without looking at assertions.
func canBeEmpty(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune) == 0
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpNoMatch:
		return false
	case syntax.OpStar, syntax.OpQuest:
		return true
	case syntax.OpRepeat:
		return re.Min == 0 || canBeEmpty(re.Sub[0])
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, canBeEmpty)
	}
	return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !canBeEmpty(sub) })
}

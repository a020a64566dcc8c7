package match

import "regexp/syntax"

// traits are what the syntax of a regular expression says about all of its matches.
type traits struct {
	beginText, beginLine, word bool // it looks at what is before the place where it is
	endLine                    bool // it has a $ in multi-line mode
	oneLine                    bool // no match contains a newline, or depends on where the text as a whole begins and ends
	carriageReturn             bool // it names \r, alone or in a class of characters
}

// looksBehind reports whether what is before a match matters.
func (t traits) looksBehind() bool { return t.beginText || t.beginLine || t.word }

func traitsOf(re *syntax.Regexp) traits {
	t := traits{oneLine: true}
	t.add(re)
	return t
}

func (t *traits) add(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpBeginText:
		t.beginText, t.oneLine = true, false
	case syntax.OpEndText:
		t.oneLine = false
	case syntax.OpBeginLine:
		t.beginLine = true
	case syntax.OpEndLine:
		t.endLine = true
	case syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		t.word = true
	case syntax.OpAnyChar:
		t.oneLine = false
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			t.oneLine = t.oneLine && r != '\n'
			t.carriageReturn = t.carriageReturn || r == '\r'
		}
	case syntax.OpCharClass:
		t.oneLine = t.oneLine && !inClass(re.Rune, '\n')
		// A class in which \r is treated unlike its neighbours names it. \s and \S, and classes such as [^x], do not.
		cr := inClass(re.Rune, '\r')
		if cr != inClass(re.Rune, '\r'-1) && cr != inClass(re.Rune, '\r'+1) {
			t.carriageReturn = true
		}
	}
	for _, sub := range re.Sub {
		t.add(sub)
	}
}

// inClass reports whether r is in one of the ranges, given as pairs.
func inClass(ranges []rune, r rune) bool {
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i] <= r && r <= ranges[i+1] {
			return true
		}
	}
	return false
}

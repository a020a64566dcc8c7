package match

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// text is a piece of text that a match contains.
type text struct {
	s    string
	fold bool // its ASCII letters match in any case; s is in lower case then
}

// maxRequired is the largest number of texts that are looked for together.
const maxRequired = 8

// maxText is the largest length of such a text, in bytes.
const maxText = 32

// texts are the known texts in the matches of a regular expression.
type texts struct {
	exact []text // all possible matches, nil if they are not known
	first []text // the possible beginnings of a match, nil if not known
	best  []text // rare texts, at least one in each match; nil if not known
}

// textsOf returns the known texts in the matches of re. A fold text means only its form in ASCII letters.
func textsOf(re *syntax.Regexp) texts {
	var r run
	switch re.Op {
	case syntax.OpLiteral:
		r.addLiteral(re)
	case syntax.OpCharClass:
		r.add(classTexts(re.Rune))
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		r.add(texts{exact: []text{{}}})
	case syntax.OpCapture:
		return textsOf(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			r.addRepeated(sub)
		}
	case syntax.OpAlternate:
		all := texts{exact: []text{}, first: []text{}, best: []text{}}
		for _, sub := range re.Sub {
			t := textsOf(sub)
			all = texts{exact: either(all.exact, t.exact), first: either(all.first, t.first),
				best: either(all.best, t.best)}
		}
		r.add(all)
	default:
		r.addRepeated(re)
	}
	return r.texts()
}

// run combines the texts of consecutive expressions. Its zero value is for no expression.
type run struct {
	now    []text // the texts of the match that end here, nil for the empty text
	first  []text // the texts at its begin
	best   []text
	broken bool // unknown text was skipped
}

func (r *run) texts() texts {
	if r.broken {
		r.cut()
		return texts{first: r.first, best: r.best}
	}
	exact := r.now
	if exact == nil {
		exact = []text{{}}
	}
	return texts{exact: exact, first: exact, best: rarer(r.best, exact)}
}

// cut ends the combined texts.
func (r *run) cut() {
	if !r.broken {
		r.first = r.now
	}
	r.best, r.now, r.broken = rarer(r.best, r.now), nil, true
}

// add appends the texts of the next expression.
func (r *run) add(t texts) {
	r.best = rarer(r.best, t.best)
	if t.exact == nil {
		if r.now == nil {
			r.now = t.first
		} else if longer, ok := product(r.now, t.first); ok && t.first != nil {
			r.now = longer
		}
		r.cut()
		return
	}
	if r.now == nil {
		r.now = t.exact
		return
	}
	if len(t.exact) > 1 {
		r.best = rarer(r.best, r.now) // longer texts are rarer, but looking for more texts takes longer
	}
	next, ok := product(r.now, t.exact)
	if !ok {
		r.cut()
		next = t.exact
	}
	r.now = next
}

// addLiteral is add for a literal.
func (r *run) addLiteral(re *syntax.Regexp) {
	var now text
	for _, c := range re.Rune {
		one, ok := runeText(c, re.Flags&syntax.FoldCase != 0)
		if !ok || len(now.s)+len(one.s) > maxText {
			r.add(texts{exact: []text{now}})
			r.cut()
			now = text{}
		}
		if ok {
			now.s += one.s
			now.fold = now.fold || one.fold
		}
	}
	r.add(texts{exact: []text{now}})
}

// addRepeated is add for an expression that may be a repetition.
func (r *run) addRepeated(re *syntax.Regexp) {
	const most = 8 // more repetitions are not rarer
	switch {
	case re.Op == syntax.OpQuest || re.Op == syntax.OpRepeat && re.Min == 0 && re.Max == 1:
		t := textsOf(re.Sub[0])
		if t.exact == nil || len(t.exact) == maxRequired {
			r.cut()
			return
		}
		r.add(texts{exact: append([]text{{}}, t.exact...)})
	case re.Op == syntax.OpPlus:
		r.addTimes(re.Sub[0], 1, false)
	case re.Op == syntax.OpRepeat && re.Min > 0:
		r.addTimes(re.Sub[0], min(re.Min, most), re.Min == re.Max && re.Min <= most)
	case re.Op == syntax.OpStar || re.Op == syntax.OpRepeat:
		r.cut()
	case re.Op == syntax.OpNoMatch || re.Op == syntax.OpAnyChar || re.Op == syntax.OpAnyCharNotNL:
		r.cut()
	default:
		r.add(textsOf(re))
	}
}

// addTimes adds an expression several times. Unless all is set, other text may follow, and then the expression once
// more.
func (r *run) addTimes(re *syntax.Regexp, times int, all bool) {
	t := textsOf(re)
	for range times {
		r.add(t)
	}
	if !all {
		r.cut()
		r.add(t)
	}
}

// either returns the texts of both sets, nil if a set is nil or there are too many.
func either(a, b []text) []text {
	if a == nil || b == nil || len(a)+len(b) > maxRequired {
		return nil
	}
	return slices.Concat(a, b)
}

// product returns each text of a followed by each text of b. ok is false if there are too many, if they are too long,
// or if only a part of a text would ignore case.
func product(a, b []text) (all []text, ok bool) {
	if len(a)*len(b) > maxRequired {
		return nil, false
	}
	for _, s := range a {
		for _, t := range b {
			if len(s.s)+len(t.s) > maxText || s.fold != t.fold && !(s.caseless() || t.caseless()) {
				return nil, false
			}
			all = append(all, text{s: s.s + t.s, fold: s.fold && !s.caseless() || t.fold && !t.caseless()})
		}
	}
	return all, true
}

func (t text) caseless() bool {
	return !strings.ContainsFunc(t.s, func(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' })
}

// runeText returns the text of one character. ok is false if the character also matches other text than its ASCII
// forms.
func runeText(r rune, fold bool) (t text, ok bool) {
	// A surrogate or the replacement character would also match bytes that are not valid UTF-8.
	if r == utf8.RuneError || !utf8.ValidRune(r) {
		return text{}, false
	}
	if !fold || unicode.SimpleFold(r) == r {
		return text{s: string(r)}, true
	}
	for first := r; r >= utf8.RuneSelf; {
		if r = unicode.SimpleFold(r); r == first {
			return text{}, false // it has no form in ASCII
		}
	}
	return text{s: string(unicode.ToLower(r)), fold: true}, true
}

// classTexts returns the texts of the characters of a class, which is a list of ranges.
func classTexts(ranges []rune) texts {
	const most = 4
	var t texts
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			one, ok := runeText(r, false)
			if !ok || len(t.exact) == most {
				return texts{}
			}
			t.exact = append(t.exact, one)
		}
	}
	return t
}

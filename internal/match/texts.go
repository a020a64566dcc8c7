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
	fold bool // its ASCII letters in any case; s is in lower case then
}

// maxRequired is how many texts are looked for side by side.
const maxRequired = 8

// maxText is how long such a text is at most, in bytes.
const maxText = 32

// texts are what is known of the texts in the matches of a regular expression.
type texts struct {
	exact []text // all that can match, nil if that is not known
	first []text // every match begins with one of these, nil if there are none
	best  []text // every match contains one of these, as rare as they could be found, nil if there are none
}

// textsOf returns what is known of the texts in the matches of re. A fold text stands for its form in ASCII letters
// only.
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

// run puts the texts of one thing after the other together. Its zero value is that of nothing.
type run struct {
	now    []text // what the match has at this place, nil for the empty text
	first  []text // what it begins with
	best   []text
	broken bool // there was something between
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

// cut ends the texts that are put together.
func (r *run) cut() {
	if !r.broken {
		r.first = r.now
	}
	r.best, r.now, r.broken = rarer(r.best, r.now), nil, true
}

// add puts one thing behind those before.
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
		r.best = rarer(r.best, r.now) // longer texts are rarer, but more of them take longer
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

// addRepeated is add for something that may be a repetition.
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

// addTimes adds something several times, and unless that is all, what may be between, and the last time.
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

// either returns the texts of both sets, nil if one of them is nil or they are too many.
func either(a, b []text) []text {
	if a == nil || b == nil || len(a)+len(b) > maxRequired {
		return nil
	}
	return slices.Concat(a, b)
}

// product returns all texts of a followed by those of b. It is not ok if they are too many or too long, or some would
// be in any case and some not.
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

// runeText returns the text of one character. It is not ok if that is not all it stands for, in ASCII letters.
func runeText(r rune, fold bool) (t text, ok bool) {
	// A surrogate or the replacement character would also stand for bytes that are not valid UTF-8.
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

// classTexts returns the texts of the characters of a class, given as ranges.
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

package posix

import (
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/match"
)

// span is the range of characters from lo to hi, inclusive.
type span struct{ lo, hi rune }

// spans is a set of characters, sorted and without overlap.
type spans []span

func (s spans) has(r rune) bool {
	i, _ := slices.BinarySearchFunc(s, r, func(p span, r rune) int {
		if p.hi < r {
			return -1
		}
		return 1
	})
	return i < len(s) && s[i].lo <= r
}

// tidy sorts and joins spans.
func (s spans) tidy() spans {
	slices.SortFunc(s, func(a, b span) int { return int(a.lo - b.lo) })
	var out spans
	for _, p := range s {
		if n := len(out); n > 0 && p.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, p.hi)
			continue
		}
		out = append(out, p)
	}
	return out
}

// without returns the characters in s that are not in t. Both must be tidy.
func (s spans) without(t spans) spans {
	var out spans
	for _, p := range s {
		for len(t) > 0 && t[0].hi < p.lo {
			t = t[1:]
		}
		for _, q := range t {
			if q.lo > p.hi {
				break
			}
			if p.lo < q.lo {
				out = append(out, span{p.lo, q.lo - 1})
			}
			p.lo = q.hi + 1
		}
		if p.lo <= p.hi {
			out = append(out, p)
		}
	}
	return out
}

// not returns all characters that are not in s, without surrogates and stray bytes. s must be tidy.
func (s spans) not() spans { return spans{{0, 0xd7ff}, {0xe000, unicode.MaxRune}}.without(s) }

// unfold returns all characters whose upper case is in s. s must be tidy.
func (s spans) unfold() spans {
	out := s.without(lowered())
	for _, p := range lowered() {
		for r := p.lo; r <= p.hi; r++ {
			if s.has(unicode.ToUpper(r)) {
				out = append(out, span{r, r})
			}
		}
	}
	return out.tidy()
}

// lowered are the characters that are not their own upper case.
var lowered = sync.OnceValue(func() spans {
	return changedBy(unicode.ToUpper).tidy()
})

// changedBy returns the characters that a change of case changes.
func changedBy(to func(rune) rune) spans {
	var out spans
	for _, c := range unicode.CaseRanges {
		for r := rune(c.Lo); r <= rune(c.Hi); r++ {
			if to(r) != r {
				out = append(out, span{r, r})
			}
		}
	}
	return out
}

// ranges returns the set in the form of package syntax.
func (s spans) ranges() []rune {
	out := make([]rune, 0, 2*len(s))
	for _, p := range s {
		out = append(out, p.lo, p.hi)
	}
	return out
}

// classes are the character classes of C.UTF-8 in the C library by name, and, as "word", the characters that \w
// matches. They differ from the classes of package unicode, but are derived from its tables: for example, digits of
// other scripts are letters.
var classes = sync.OnceValue(func() map[string]spans {
	space := spans{
		{0x9, 0xd}, {0x20, 0x20}, {0x1680, 0x1680}, {0x2000, 0x2006}, {0x2008, 0x200a}, {0x2028, 0x2029}, {0x205f, 0x205f},
		{0x3000, 0x3000},
	}
	control := spans{{0, 0x1f}, {0x7f, 0x9f}, {0x2028, 0x2029}}
	digit := spans{{'0', '9'}}
	alnum := of(unicode.L, unicode.Nd, unicode.Nl, unicode.Other_Alphabetic)
	printed := of(unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Zs, unicode.Cf, unicode.Co)
	upper := append(of(unicode.Lu, unicode.Other_Uppercase), changedBy(unicode.ToLower)...)
	lower := append(of(unicode.Ll, unicode.Other_Lowercase), changedBy(unicode.ToUpper)...)
	punct := printed.without(slices.Concat(alnum, space).tidy())
	return map[string]spans{
		"alnum":  alnum,
		"alpha":  alnum.without(digit),
		"blank":  space.without(spans{{0xa, 0xd}, {0x2028, 0x2029}}),
		"cntrl":  control,
		"digit":  digit,
		"graph":  slices.Concat(alnum, punct).tidy(),
		"lower":  lower.tidy(),
		"print":  slices.Concat(alnum, punct, space.without(control)).tidy(),
		"punct":  punct,
		"space":  space,
		"upper":  upper.tidy(),
		"xdigit": {{'0', '9'}, {'A', 'F'}, {'a', 'f'}},
		"word":   slices.Concat(alnum, spans{{'_', '_'}}).tidy(),
	}
})

// of returns all characters in some tables.
func of(tables ...*unicode.RangeTable) spans {
	var out spans
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			out = append(out, span{lo, hi})
			return
		}
		for r := lo; r <= hi; r += stride {
			out = append(out, span{r, r})
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return out.tidy()
}

// Words returns the word characters beyond ASCII, as the ranges of a class for [match.CompileLongest]. It must not be
// changed. In words, the C library treats a byte that is not part of a character as the character with that number.
func Words() []rune { return words() }

var words = sync.OnceValue(func() []rune {
	word := classes()["word"]
	out := slices.Clone(word)
	for r := rune(utf8.RuneSelf); r <= 0xff; r++ {
		if word.has(r) {
			out = append(out, span{match.RawByte + r, match.RawByte + r})
		}
	}
	return out.tidy().ranges()
})

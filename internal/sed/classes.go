package sed

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/match"
)

// span is the characters from lo to hi, both included.
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

// tidy sorts and joins.
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

// not is every character that is not in s, which has to be tidy. Surrogates, and bytes that are part of no character, are in neither.
func (s spans) not() spans {
	var out spans
	next := rune(0)
	for _, p := range append(s[:len(s):len(s)], span{surrogateMin, surrogateMax}, span{match.RawByte, match.RawByte}).tidy() {
		if p.lo > next {
			out = append(out, span{next, p.lo - 1})
		}
		next = p.hi + 1
	}
	return out
}

const surrogateMin, surrogateMax = 0xd800, 0xdfff

// unfold is every character whose upper case is in s, which has to be tidy.
func (s spans) unfold() spans {
	var out spans
	all := lowered()
	rest := all
	for _, p := range s {
		for len(rest) > 0 && rest[0].lower <= p.hi {
			if lower := rest[0].lower; lower >= p.lo {
				out = append(out, span{p.lo, lower - 1})
				p.lo = lower + 1
			}
			rest = rest[1:]
		}
		out = append(out, p)
	}
	for _, l := range all {
		if s.has(l.upper) {
			out = append(out, span{l.lower, l.lower})
		}
	}
	return slices.DeleteFunc(out, func(p span) bool { return p.lo > p.hi }).tidy()
}

// lowered are the characters that are not their own upper case, in order.
var lowered = sync.OnceValue(func() []letter {
	var all []letter
	for _, c := range unicode.CaseRanges {
		for r := rune(c.Lo); r <= rune(c.Hi); r++ {
			if u := unicode.ToUpper(r); u != r {
				all = append(all, letter{r, u})
			}
		}
	}
	return all
})

type letter struct{ lower, upper rune }

// ranges is the set as package syntax has it.
func (s spans) ranges() []rune {
	out := make([]rune, 0, 2*len(s))
	for _, p := range s {
		out = append(out, p.lo, p.hi)
	}
	return out
}

// anyChar is what a dot matches: every character, with M but a newline. It is not written as package syntax would, because that takes
// for any character whatever goes up to the last one.
func anyChar(lines bool) []rune {
	if lines {
		return spans{{'\n', '\n'}}.not().ranges()
	}
	return spans{}.not().ranges()
}

func unpack(packed string) spans {
	data, err := base64.RawStdEncoding.DecodeString(packed)
	if err != nil {
		panic("sed: class table: " + err.Error())
	}
	var out spans
	at := uint64(0)
	for len(data) > 0 {
		gap, n := binary.Uvarint(data)
		take, m := binary.Uvarint(data[n:])
		data = data[n+m:]
		at += gap
		out = append(out, span{rune(at), rune(at + take - 1)})
		at += take
	}
	return out
}

var classes = sync.OnceValue(func() map[string]spans {
	space := spans{{0x9, 0xd}, {0x20, 0x20}, {0x1680, 0x1680}, {0x2000, 0x2006}, {0x2008, 0x200a}, {0x2028, 0x2029}, {0x205f, 0x205f}, {0x3000, 0x3000}}
	blank := spans{{0x9, 0x9}, {0x20, 0x20}, {0x1680, 0x1680}, {0x2000, 0x2006}, {0x2008, 0x200a}, {0x205f, 0x205f}, {0x3000, 0x3000}}
	m := map[string]spans{
		"alpha":  unpack(alphaRanges),
		"upper":  unpack(upperRanges),
		"lower":  unpack(lowerRanges),
		"punct":  unpack(punctRanges),
		"print":  unpack(printRanges),
		"space":  space,
		"blank":  blank,
		"cntrl":  {{0, 0x1f}, {0x7f, 0x9f}, {0x2028, 0x2029}},
		"digit":  {{'0', '9'}},
		"xdigit": {{'0', '9'}, {'A', 'F'}, {'a', 'f'}},
	}
	m["alnum"] = slices.Concat(m["alpha"], m["digit"]).tidy()
	m["graph"] = slices.Concat(m["alnum"], m["punct"]).tidy()
	m["word"] = slices.Concat(m["alnum"], spans{{'_', '_'}}).tidy()
	return m
})

// words are the characters of words beyond ASCII, for \b, \< and \>. The C library takes a byte that is part of no character for
// the character of that number there.
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

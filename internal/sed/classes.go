package sed

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A unit is what one item of a pattern matches at most: a character, or a byte that is part of none. Bytes that are part of
// none have the codes -128 to -1, their value less 256.
type unit = int32

// maxUnit is the largest character there is for the C library: it knows the six-byte form of UTF-8 too.
const maxUnit = unit(1<<31 - 1)

// span is the units from lo to hi, both included.
type span struct{ lo, hi unit }

// spans is a set of units, sorted and without overlap.
type spans []span

func (s spans) has(u unit) bool {
	i, _ := slices.BinarySearchFunc(s, u, func(p span, u unit) int {
		if p.hi < u {
			return -1
		}
		return 1
	})
	return i < len(s) && s[i].lo <= u
}

// tidy sorts and joins.
func (s spans) tidy() spans {
	slices.SortFunc(s, func(a, b span) int { return int(max(-1, min(1, int64(a.lo)-int64(b.lo)))) })
	var out spans
	for _, p := range s {
		if n := len(out); n > 0 && int64(p.lo) <= int64(out[n-1].hi)+1 {
			out[n-1].hi = max(out[n-1].hi, p.hi)
			continue
		}
		out = append(out, p)
	}
	return out
}

// not is every character that is not in s, which has to be tidy. Bytes that are part of no character are in neither.
func (s spans) not() spans {
	var out spans
	next := int64(0)
	for _, p := range s {
		if p.hi < 0 {
			continue
		}
		if int64(p.lo) > next {
			out = append(out, span{unit(next), p.lo - 1})
		}
		next = max(next, int64(p.hi)+1)
	}
	if next <= int64(maxUnit) {
		out = append(out, span{unit(next), maxUnit})
	}
	return out
}

func ranges(packed string) spans {
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
		out = append(out, span{unit(at), unit(at + take - 1)})
		at += take
	}
	return out
}

var classes = sync.OnceValue(func() map[string]spans {
	space := spans{{0x9, 0xd}, {0x20, 0x20}, {0x1680, 0x1680}, {0x2000, 0x2006}, {0x2008, 0x200a}, {0x2028, 0x2029}, {0x205f, 0x205f}, {0x3000, 0x3000}}
	blank := spans{{0x9, 0x9}, {0x20, 0x20}, {0x1680, 0x1680}, {0x2000, 0x2006}, {0x2008, 0x200a}, {0x205f, 0x205f}, {0x3000, 0x3000}}
	m := map[string]spans{
		"alpha":  ranges(alphaRanges),
		"upper":  ranges(upperRanges),
		"lower":  ranges(lowerRanges),
		"punct":  ranges(punctRanges),
		"print":  ranges(printRanges),
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

// class returns a class by its name within [: and :].
func class(name string) (spans, bool) {
	if name == "word" {
		return nil, false // only \w is called so
	}
	s, ok := classes()[name]
	return s, ok
}

// wordContext is what counts as a word character next to \b, \< and \>. The C library takes a byte that is part of no
// character for the character of that number there.
func wordContext() spans {
	word := classes()["word"]
	out := slices.Clone(word)
	for u := unit(0x80); u < 0x100; u++ {
		if word.has(u) {
			out = append(out, span{u - 0x100, u - 0x100})
		}
	}
	return out.tidy()
}

// upper is towupper.
func upper(u unit) unit {
	switch {
	case u < 0 || u > unicode.MaxRune:
		return u
	case u < utf8.RuneSelf:
		if 'a' <= u && u <= 'z' {
			u -= 'a' - 'A'
		}
		return u
	}
	return unicode.ToUpper(u)
}

// lower is towlower.
func lower(u unit) unit {
	if u < 0 || u > unicode.MaxRune {
		return u
	}
	return unicode.ToLower(u)
}

// decode returns the first unit of b, which must not be empty, and its length. Characters may be up to six bytes long, as
// in the C library; surrogates are characters only for what matches bytes, which is what surrogates says.
func decode(b []byte, surrogates bool) (unit, int) {
	c := b[0]
	if c < utf8.RuneSelf {
		return unit(c), 1
	}
	n, u, least := 0, unit(0), unit(0)
	switch {
	case c < 0xc2:
	case c < 0xe0:
		n, u, least = 2, unit(c&0x1f), 0x80
	case c < 0xf0:
		n, u, least = 3, unit(c&0x0f), 0x800
	case c < 0xf8:
		n, u, least = 4, unit(c&0x07), 0x10000
	case c < 0xfc:
		n, u, least = 5, unit(c&0x03), 0x200000
	case c < 0xfe:
		n, u, least = 6, unit(c&0x01), 0x4000000
	}
	if n == 0 || n > len(b) {
		return unit(c) - 0x100, 1
	}
	for _, d := range b[1:n] {
		if d&0xc0 != 0x80 {
			return unit(c) - 0x100, 1
		}
		u = u<<6 | unit(d&0x3f)
	}
	if u < least || !surrogates && 0xd800 <= u && u <= 0xdfff {
		return unit(c) - 0x100, 1
	}
	return u, n
}

// encode appends a unit as it is written.
func encode(b []byte, u unit) []byte {
	switch {
	case u < 0:
		return append(b, byte(u+0x100))
	case u < 0x110000 && utf8.ValidRune(u):
		return utf8.AppendRune(b, u)
	case u < 0x10000:
		return append(b, 0xe0|byte(u>>12), 0x80|byte(u>>6)&0xbf, 0x80|byte(u)&0xbf)
	}
	n := 4
	for ; n < 6 && u>>(5*n+1) != 0; n++ {
	}
	b = append(b, [...]byte{4: 0xf0, 5: 0xf8, 6: 0xfc}[n]|byte(u>>(6*(n-1))))
	for i := n - 2; i >= 0; i-- {
		b = append(b, 0x80|byte(u>>(6*i))&0x3f)
	}
	return b
}

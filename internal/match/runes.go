package match

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// classesOfRunes groups characters that a program does not distinguish.
type classesOfRunes struct {
	from   []rune  // the begins of the ranges, each of which ends at the next
	class  []uint8 // of each range
	sample []rune  // a character of each class

	ascii  [utf8.RuneSelf]uint8
	beyond []uint8 // the classes of characters that are not ASCII
}

// maxClassWork bounds the time to compute the classes of a program: ranges times instructions.
const maxClassWork = 1 << 18

// newClasses returns the classes of a program. ok is false if there are too many.
func newClasses(prog *syntax.Prog, a *alphabet, lines, words bool) (c classesOfRunes, ok bool) {
	tests, from, ok := boundaries(prog)
	if !ok {
		return c, false
	}
	if lines {
		from = append(from, '\n', '\n'+1)
	}
	if words {
		from = append(from, '0', '9'+1, 'A', 'Z'+1, '_', '_'+1, 'a', 'z'+1)
		for i := 0; i+1 < len(a.words); i += 2 {
			from = append(from, a.words[i], a.words[i+1]+1)
		}
	}
	from = append(from, 0, utf8.RuneSelf)
	slices.Sort(from)
	c.from = slices.Compact(from)
	if len(c.from)*(len(tests)+1) > maxClassWork {
		return c, false
	}
	known := make(map[string]uint8)
	var signature []byte
	for _, r := range c.from {
		signature = signature[:0]
		for _, in := range tests {
			signature = append(signature, flag(in.MatchRune(r)))
		}
		// Runes beyond ASCII are kept separate for speed.
		signature = append(signature, flag(lines && r == '\n'), flag(words && a.isWord(r)), flag(r >= utf8.RuneSelf))
		n, ok := known[string(signature)]
		if !ok {
			if len(c.sample) == 256 {
				return c, false
			}
			n = uint8(len(c.sample))
			known[string(signature)] = n
			c.sample = append(c.sample, r)
			if r >= utf8.RuneSelf {
				c.beyond = append(c.beyond, n)
			}
		}
		c.class = append(c.class, n)
	}
	for r := range c.ascii {
		c.ascii[r] = c.search(rune(r))
	}
	return c, true
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// boundaries returns the instructions that test a character, each kind once, and the bounds of the ranges that they
// test.
func boundaries(prog *syntax.Prog) (tests []*syntax.Inst, from []rune, ok bool) {
	seen := make(map[string]bool)
	var key []byte
	for i := range prog.Inst {
		in := &prog.Inst[i]
		switch in.Op {
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		default:
			continue
		}
		single := len(in.Rune) == 1
		key = append(key[:0], flag(single && syntax.Flags(in.Arg)&syntax.FoldCase != 0))
		for _, r := range in.Rune {
			key = binary.LittleEndian.AppendUint32(key, uint32(r))
		}
		if seen[string(key)] {
			continue
		}
		seen[string(key)] = true
		tests = append(tests, in)
		if single {
			r0 := in.Rune[0]
			from = append(from, r0, r0+1)
			for r := unicode.SimpleFold(r0); r != r0; r = unicode.SimpleFold(r) {
				from = append(from, r, r+1)
			}
		}
		for j := 0; j+1 < len(in.Rune); j += 2 {
			from = append(from, in.Rune[j], in.Rune[j+1]+1)
		}
		if len(from) > maxClassWork {
			return nil, nil, false
		}
	}
	return tests, from, true
}

func (c *classesOfRunes) of(r rune) uint8 {
	if r < utf8.RuneSelf {
		return c.ascii[r]
	}
	if len(c.beyond) == 1 {
		return c.beyond[0]
	}
	return c.search(r)
}

func (c *classesOfRunes) search(r rune) uint8 {
	i, begins := slices.BinarySearch(c.from, r)
	if !begins {
		i--
	}
	return c.class[i]
}

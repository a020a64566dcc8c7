package match

import (
	"context"
	"regexp/syntax"
	"unicode"
)

// Longest is a regular expression that matches as POSIX has it: of the matches that begin first, the longest. It is
// immutable and safe for concurrent use.
//
// It is made of a tree of package [syntax], by which other syntaxes than that of package regexp are run. Two things
// go beyond that package: a byte that is part of no character is not U+FFFD but a character of its own, [RawByte]
// plus the byte, which no class has unless it names it; and there are [WordBegin] and [WordEnd].
type Longest struct{ engine }

// RawByte is the character that stands for the byte 0 where that is part of no character, and RawByte+b for the byte b.
const RawByte rune = unicode.MaxRune + 1

// WordBegin and WordEnd return expressions for the empty text where a word begins or ends.
func WordBegin() *syntax.Regexp { return wordEdge(capWordBegin) }

// WordEnd is like [WordBegin].
func WordEnd() *syntax.Regexp { return wordEdge(capWordEnd) }

// The numbers of groups around a \b that stand for the beginning and the end of a word. Package syntax has no such
// thing, but gives any number to the instructions of a group.
const (
	capWordBegin = -1 - iota
	capWordEnd
)

// Assertions of an instruction beyond the assertions of package syntax.
const (
	beforeWord  syntax.EmptyOp = 1 << (6 + iota) // the character behind the place is one of a word
	beforeOther                                  // it is none, or the text ends
)

func wordEdge(number int) *syntax.Regexp {
	return &syntax.Regexp{Op: syntax.OpCapture, Cap: number, Sub: []*syntax.Regexp{{Op: syntax.OpWordBoundary}}}
}

// CompileLongest prepares a tree for use. words are the characters of words beyond ASCII, as the ranges of a class.
// It takes time and memory in proportion to the size of the tree with its repetitions written out, which the caller
// bounds.
func CompileLongest(tree *syntax.Regexp, words []rune) (*Longest, error) {
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	for i := range prog.Inst {
		in := &prog.Inst[i]
		if number := int32(in.Arg); in.Op == syntax.InstCapture && number < 0 {
			switch in.Op = syntax.InstEmptyWidth; number {
			case 2 * capWordBegin:
				in.Arg = uint32(beforeWord)
			case 2 * capWordEnd:
				in.Arg = uint32(beforeOther)
			default:
				in.Op = syntax.InstNop // the end of the group
			}
		}
	}
	known := textsOf(tree)
	p := &Longest{engine{
		alphabet: alphabet{posix: true, words: words}, prog: prog, sole: soleText(tree),
		need: required(known.best, false),
	}}
	if p.machine = newMachine(&p.engine, false); p.machine != nil {
		p.machine.startWith(known.first)
	}
	return p, nil
}

// Share reports that so many patterns are kept together, which divide the memory for their states. It must come before
// any use.
func (p *Longest) Share(patterns int) {
	const all, least = 32 * maxStates, maxStates / 16
	if p.machine != nil {
		p.machine.room = min(maxStates, max(all/max(patterns, 1), least))
	}
}

// Needs reports whether there are texts of which every match contains one, so that [Longest.Places] says something.
func (p *Longest) Needs() bool { return len(p.need) > 0 }

// Contains reports whether there is a match. The error is that of the context.
func (p *Longest) Contains(ctx context.Context, data []byte) (bool, error) {
	if p.sole != nil {
		return p.sole.next(data, 0) >= 0, nil
	}
	t := p.tools(ctx, data)
	defer p.putBack(t)
	if n, ok := t.count(1); ok {
		return n > 0, nil
	}
	loc, err := t.walk.run(ctx, data, 0, -1, make([]int, 2))
	return loc != nil, err
}

// Each calls yield for each match, in order: loc[0] and loc[1] are where it begins and ends, loc[2*i] and loc[2*i+1]
// group i, up to as many groups as are asked for, -1 if that took no part. Of several ways to the same match that one
// counts which package regexp prefers. loc is valid until yield returns; when it returns false, Each ends without an
// error. An empty match right behind another one does not count. The error is that of the context.
func (p *Longest) Each(ctx context.Context, data []byte, groups int, yield func(loc []int) bool) error {
	if p.sole != nil {
		return p.texts(ctx, data, yield)
	}
	t := p.tools(ctx, data)
	defer p.putBack(t)
	return each(ctx, data, func(pos int) ([]int, error) { return t.inText(pos, 2+2*groups) }, yield)
}

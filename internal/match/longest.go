package match

import (
	"context"
	"regexp/syntax"
	"unicode"
)

// Longest is a regular expression that matches as in POSIX: of the matches that begin first, the longest. It is
// immutable and safe for concurrent use.
//
// It is made from a tree of package [syntax], so that other syntaxes than that of package regexp can be run. Two
// features go beyond that package: a byte that is not part of a character is not U+FFFD but a character of its own,
// [RawByte] plus the byte, which is in no class that does not name it; and there are [WordBegin] and [WordEnd].
type Longest struct{ engine }

// RawByte is the character for the byte 0 that is not part of a character, and RawByte+b for the byte b.
const RawByte rune = unicode.MaxRune + 1

// WordBegin returns an expression for the empty text at the beginning of a word.
func WordBegin() *syntax.Regexp { return wordEdge(capWordBegin) }

// WordEnd returns an expression for the empty text at the end of a word.
func WordEnd() *syntax.Regexp { return wordEdge(capWordEnd) }

// The numbers of groups around a \b that mean the beginning and the end of a word. Package syntax has no such
// assertions, but accepts any number in the instructions of a group.
const (
	capWordBegin = -1 - iota
	capWordEnd
)

// Assertions of an instruction beyond the assertions of package syntax.
const (
	beforeWord  syntax.EmptyOp = 1 << (6 + iota) // the character after the place is a word character
	beforeOther                                  // it is not, or the text ends
)

func wordEdge(number int) *syntax.Regexp {
	return &syntax.Regexp{Op: syntax.OpCapture, Cap: number, Sub: []*syntax.Regexp{{Op: syntax.OpWordBoundary}}}
}

// CompileLongest prepares a tree for use. words are the word characters beyond ASCII, as the ranges of a class. Time
// and memory are proportional to the size of the tree with its repetitions written out. The caller must bound that.
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

// Share sets the number of patterns that are kept together and divide the memory for their states. It must be called
// before any use.
func (p *Longest) Share(patterns int) {
	const all, least = 32 * maxStates, maxStates / 16
	if p.machine != nil {
		p.machine.room = min(maxStates, max(all/max(patterns, 1), least))
	}
}

// Needs reports whether every match contains one of some known texts, so that [Places] is useful.
func (p *Longest) Needs() bool { return len(p.need) > 0 }

// Contains reports whether there is a match. The error is from the context.
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

// Each calls yield for each match, in order: loc[0] and loc[1] are its begin and end, loc[2*i] and loc[2*i+1] are those
// of group i, for as many groups as requested, -1 if the group took no part. If several ways lead to the same match,
// the way that package regexp prefers counts. loc is valid until yield returns; if yield returns false, Each ends
// without an error. An empty match directly after another match does not count. The error is from the context.
func (p *Longest) Each(ctx context.Context, data []byte, groups int, yield func(loc []int) bool) error {
	if p.sole != nil {
		return p.texts(ctx, data, yield)
	}
	t := p.tools(ctx, data)
	defer p.putBack(t)
	return each(ctx, data, func(pos int) ([]int, error) { return t.inText(pos, 2+2*groups) }, yield)
}

package match

import (
	"context"
	"regexp/syntax"
	"sync"
	"unicode/utf8"
)

// Longest is a regular expression that matches as POSIX has it: of the matches that begin first, the longest. It is
// immutable and safe for concurrent use.
//
// It is made of a tree of package [syntax], by which other syntaxes than that of package regexp are run. Two things
// go beyond that package: a byte that is part of no character is not U+FFFD but a character of its own, [RawByte]
// plus the byte, which no class has unless it names it; and there are [WordBegin] and [WordEnd].
type Longest struct {
	prog    *syntax.Prog
	words   []rune
	sole    searcher   // finds the matches, as they are all one text
	need    []searcher // each match contains one of these; if there are none, nothing is known
	machine *machine   // nil if there is none
	spare   sync.Pool  // of *longestTools
}

// RawByte is the character that stands for the byte 0 where that is part of no character, and RawByte+b for the byte b.
const RawByte rune = utf8.MaxRune + 1

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

// What an instruction may look at beside what package syntax knows.
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
	p := &Longest{prog: prog, words: words, sole: soleText(tree), need: required(tree, false)}
	p.machine = machineOf(prog, alphabet{posix: true, words: words}, false)
	if p.machine != nil && !p.machine.anchored {
		p.machine.prefix = prefixes(tree, false)
	}
	return p, nil
}

// Share says that so many patterns are kept together, which divide the memory for their states. It must come before
// any use.
func (p *Longest) Share(patterns int) {
	const all, least = 32 * maxStates, maxStates / 16
	if p.machine != nil {
		p.machine.room = min(maxStates, max(all/max(patterns, 1), least))
	}
}

// Needs reports whether there are texts of which every match contains one, so that [Longest.Places] says something.
func (p *Longest) Needs() bool { return len(p.need) > 0 }

// Places walks through the places of a text where a match may be. Its zero value is that of an empty text.
type Places struct{ at places }

// Reset begins with a text anew, for the matches of a pattern that [Longest.Needs] texts.
func (w *Places) Reset(p *Longest, data []byte) { w.at.reset(data, p.need) }

// Next returns the first place at or after from which a match contains, or -1 if there is no match there. From must
// not fall.
func (w *Places) Next(from int) int { return w.at.next(from) }

// Contains reports whether there is a match. The error is that of the context.
func (p *Longest) Contains(ctx context.Context, data []byte) (bool, error) {
	if p.sole != nil {
		return p.sole.next(data, 0) >= 0, nil
	}
	t := p.tools(ctx, data)
	defer p.putBack(t)
	at, err := t.lower(0)
	if at < 0 || err != nil || t.known {
		return at >= 0, err
	}
	return t.walk.run(ctx, data, at, -1, t.loc[:2])
}

// Each calls yield for each match, in order: loc[0] and loc[1] are where it begins and ends, loc[2*i] and loc[2*i+1]
// group i, up to as many groups as are asked for, -1 if that took no part. Of several ways to the same match that one
// counts which package regexp prefers. loc is valid until yield returns; when it returns false, Each ends without an
// error. An empty match right behind another one does not count. The error is that of the context.
func (p *Longest) Each(ctx context.Context, data []byte, groups int, yield func(loc []int) bool) error {
	if p.sole != nil && p.sole.next(data, 0) < 0 {
		return ctx.Err()
	}
	t := p.tools(ctx, data)
	defer p.putBack(t)
	for len(t.loc) < 2+2*groups {
		t.loc = append(t.loc, 0)
	}
	loc := t.loc[:2+2*groups]
	for pos, last := 0, -1; pos <= len(data); {
		if err := ctx.Err(); err != nil {
			return err
		}
		found, err := t.first(pos, loc)
		if !found || err != nil {
			return err
		}
		start, end := loc[0], loc[1]
		if pos = end; start == end {
			_, width := utf8.DecodeRune(data[end:])
			pos += max(width, 1)
		}
		if (start != end || end != last) && !yield(loc) {
			return nil
		}
		last = end
	}
	return nil
}

// longestTools are what the matches in one text are looked for with, and kept for the next one.
type longestTools struct {
	p     *Longest
	ctx   context.Context
	data  []byte
	at    places
	dfa   *dfa // nil if there is none, or it is no good for this text
	spare *dfa
	walk  walker
	loc   []int
	known bool // the last call of lower has found that there is a match
}

func (p *Longest) tools(ctx context.Context, data []byte) *longestTools {
	t, _ := p.spare.Get().(*longestTools)
	if t == nil {
		t = &longestTools{p: p, walk: walker{prog: p.prog, alphabet: alphabet{posix: true, words: p.words}}, loc: make([]int, 2)}
		if p.machine != nil {
			t.spare = newDFA(p.machine)
		}
	}
	t.ctx, t.data, t.dfa = ctx, data, t.spare
	t.at.reset(data, p.need)
	if t.dfa != nil {
		t.dfa.ctx = ctx
		t.dfa.ahead.reset(data, p.machine.prefix)
	}
	return t
}

func (p *Longest) putBack(t *longestTools) {
	t.ctx, t.data, t.at.data = nil, nil, nil
	if t.spare != nil {
		t.spare.data, t.spare.ahead.data, t.spare.ctx = nil, nil, nil
	}
	p.spare.Put(t)
}

// lower returns an offset at or after pos such that no match from pos on begins before it, -1 if there is none.
func (t *longestTools) lower(pos int) (int, error) {
	t.known = false
	if len(t.p.need) > 0 && t.at.next(pos) < 0 {
		return -1, nil
	}
	if t.dfa == nil {
		return pos, nil
	}
	end, ok := t.dfa.find(t.data, pos)
	switch {
	case !ok:
		t.dfa = nil
		return pos, t.ctx.Err()
	case end < 0:
		return -1, nil
	}
	t.known = true
	return t.dfa.beginning(t.data, pos, end), nil
}

// first finds the first match at or after pos.
func (t *longestTools) first(pos int, loc []int) (bool, error) {
	if t.p.sole != nil {
		i := t.p.sole.next(t.data, pos)
		if i < 0 {
			return false, nil
		}
		loc[0], loc[1] = i, i+t.p.sole.size()
		return true, nil
	}
	from, err := t.lower(pos)
	if from < 0 || err != nil {
		return false, err
	}
	// Each place is tried, which may take long where many beginnings lead to nothing. Walking all ways at once does not.
	const most = 1 << 14
	for at, left := from, most; t.dfa != nil && left > 0 && at <= len(t.data); {
		end, seen, ok := t.dfa.longest(t.data, at)
		switch {
		case !ok:
			t.dfa = nil
		case end >= 0 && len(loc) == 2:
			loc[0], loc[1] = at, end
			return true, nil
		case end >= 0:
			return t.walk.run(t.ctx, t.data, at, end, loc)
		}
		left -= 1 + seen - at
		_, width := utf8.DecodeRune(t.data[at:])
		at += max(width, 1)
	}
	return t.walk.run(t.ctx, t.data, from, -1, loc)
}

// longest returns where the longest match ends that begins at an offset, -1 if there is none, and how far it had to
// look. find must have been called for the same text.
func (d *dfa) longest(data []byte, from int) (end, seen int, ok bool) {
	if d.hopeless {
		return 0, 0, false
	}
	before := d.m.pastAt(data, from)
	if d.heads[before] == unknown {
		d.next.order = d.next.order[:0]
		d.next.add(uint32(d.m.prog.Start))
		d.heads[before] = d.intern(before, false)
	}
	l := &d.lanes[0]
	*l = lane{state: d.heads[before], pos: from, to: len(data), end: -1}
	for l.state != none {
		if l.end >= 0 {
			d.runOn(l)
		} else {
			d.run(l)
		}
		last := l.pos == len(data)
		if d.step(l) == gaveUp {
			return 0, 0, false
		}
		if last {
			break
		}
	}
	return l.end, l.pos, true
}

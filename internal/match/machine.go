package match

import (
	"regexp/syntax"
	"unicode/utf8"
)

// maxProgram is the longest program, in instructions, that a [dfa] runs. Each new state costs time and memory for many
// of them, so walking is better for longer programs.
const maxProgram = 5000

// maxStates is the most memory for the states of a [dfa], in bytes, without the last state.
const maxStates = 1 << 20

// machine is a regular expression in the form for a [dfa]. It is immutable.
type machine struct {
	prog *syntax.Prog
	alphabet
	classes  classesOfRunes
	anchored bool // it can only match at the beginning of the text
	skipCR   bool // the "\r" of "\r\n" may have to be skipped

	looksAtLine, looksAtWord bool // the character before a place matters, not only its absence

	// column is the column of the table of transitions for each byte: the class of the byte, slowByte or slowCR.
	column [256]uint8
	width  int // number of columns

	prefix []*finder // the possible beginnings of a match, nil if unknown or not useful

	room int // roughly, the most memory for the states of a dfa, in bytes
}

// The columns after the columns of the classes.
const (
	endOfText = iota // after the last character
	slowByte         // a byte of a character that is not ASCII, or of no character
	slowCR           // "\r", if it may have to be skipped
	moreColumns
)

// newMachine returns the machine of an engine, nil if its program is too large, or distinguishes too many characters.
func newMachine(e *engine, skipCR bool) *machine {
	prog := e.prog
	if len(prog.Inst) > maxProgram {
		return nil
	}
	m := &machine{
		prog: prog, alphabet: e.alphabet, skipCR: skipCR, room: maxStates,
		anchored: prog.StartCond()&syntax.EmptyBeginText != 0,
	}
	for i := range prog.Inst {
		if in := &prog.Inst[i]; in.Op == syntax.InstEmptyWidth {
			look := syntax.EmptyOp(in.Arg)
			m.looksAtLine = m.looksAtLine || look&(syntax.EmptyBeginLine|syntax.EmptyEndLine) != 0
			m.looksAtWord = m.looksAtWord || look&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0
		}
	}
	var ok bool
	if m.classes, ok = newClasses(prog, &m.alphabet, m.looksAtLine, m.looksAtWord); !ok {
		return nil
	}
	n := len(m.classes.sample)
	if m.width = n + moreColumns; m.width > 256 {
		return nil
	}
	for b := range m.column {
		m.column[b] = uint8(n + slowByte)
		if b < utf8.RuneSelf {
			m.column[b] = m.classes.of(rune(b))
		}
	}
	if skipCR {
		m.column['\r'] = uint8(n + slowCR)
	}
	return m
}

// past describes the character before a place.
type past uint8

const (
	atStart   past = 1 << iota // there is none
	afterLine                  // it is "\n"
	afterWord                  // \w matches it
)

// behind returns the past of the place after a character, as far as the program needs it.
func (m *machine) behind(r rune) past { return m.pastOf(r, m.looksAtLine, m.looksAtWord) }

// pastAt returns the past of an offset of data that begins a character.
func (m *machine) pastAt(data []byte, offset int) past {
	if offset == 0 {
		return atStart
	}
	if !m.looksAtLine && !m.looksAtWord {
		return 0
	}
	return m.behind(m.last(data[:offset]))
}

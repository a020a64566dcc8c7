package match

import (
	"regexp/syntax"
	"unicode/utf8"
)

// maxProgram is the longest program, in instructions, that is run by a [dfa]. Each new state costs time and memory
// for many of them, so that longer ones are better walked through.
const maxProgram = 5000

// maxStates bounds the memory that the states of a [dfa] take, in bytes, but for the last one.
const maxStates = 1 << 20

// machine is a regular expression in the form that a [dfa] works on. It is immutable.
type machine struct {
	prog *syntax.Prog
	alphabet
	classes  classesOfRunes
	anchored bool // it can only match at the beginning of the text
	skipCR   bool // the "\r" of "\r\n" may have to be passed over

	looksAtLine, looksAtWord bool // what is before a place matters, beyond whether it is the beginning of the text

	// column says for each byte which column of the table of transitions it takes: that of its class, slowByte or
	// slowCR.
	column [256]uint8
	width  int // number of columns

	prefix []*finder // each match begins with one of these, nil if that is not known or of no use

	room int // about how much memory the states of a dfa may take, in bytes
}

// The columns behind those of the classes.
const (
	endOfText = iota // what follows the last character
	slowByte         // a byte of a character that is not ASCII, or of none
	slowCR           // "\r", if it may have to be passed over
	moreColumns
)

// newMachine returns the machine of an engine, nil if its program is too large, or tells too many characters apart.
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

// past is what a place knows of the character before it.
type past uint8

const (
	atStart   past = 1 << iota // there is none
	afterLine                  // it is "\n"
	afterWord                  // \w matches it
)

// behind returns the past of a place behind a character, as far as the program cares.
func (m *machine) behind(r rune) past { return m.pastOf(r, m.looksAtLine, m.looksAtWord) }

// pastAt returns that of an offset of data that begins a character.
func (m *machine) pastAt(data []byte, offset int) past {
	if offset == 0 {
		return atStart
	}
	if !m.looksAtLine && !m.looksAtWord {
		return 0
	}
	return m.behind(m.last(data[:offset]))
}

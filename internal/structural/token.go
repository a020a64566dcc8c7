package structural

import (
	"unicode"
	"unicode/utf8"
)

// kind is the kind of a token.
type kind uint8

const (
	kindWord kind = iota
	kindOperator
	kindString
	kindComment
	kindOpen
	kindClose
	kindBroken // text that does not lex: nothing matches it, and no match spans it
	kindHole   // of a pattern
)

// token is a part of a text that is compared as a whole. The text between two tokens is layout.
type token struct {
	start, end int32
	// pair is the token of the other bracket; for a tag that begins an element, next is the token after the element.
	pair, next int32
	kind       kind
	line       bool // a line end is between it and the token before
	ends       bool // that line end ends a statement
	closes     bool // it begins a closing tag: a hole ends before it
}

// holeRune is the first of the private characters that represent holes while a pattern is cut into tokens.
const holeRune = 0xF0000

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	return r != utf8.RuneError && unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark)
}

func closing(open byte) byte {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	case '{':
		return '}'
	case '<':
		return '>'
	}
	return 0
}

package match

import (
	"context"
	"io"
	"unicode/utf8"
)

// runes reads a text character by character, as package regexp sees it, and ends when its context does.
type runes struct {
	ctx   context.Context
	data  []byte
	pos   int
	every int // characters between two looks at the context
	left  int
	err   error
}

// newRunes returns a reader for a program of about so many instructions.
func newRunes(ctx context.Context, data []byte, size int) *runes {
	const often = 1 << 20 // instructions between two looks
	every := max(1, often/max(1, size))
	return &runes{ctx: ctx, data: data, every: every, left: every}
}

// ReadRune implements [io.RuneReader].
func (r *runes) ReadRune() (c rune, size int, err error) {
	if r.left--; r.left <= 0 {
		r.left = r.every
		if r.err = r.ctx.Err(); r.err != nil {
			return 0, 0, r.err
		}
	}
	if r.pos >= len(r.data) {
		return 0, 0, io.EOF
	}
	c, size = utf8.DecodeRune(r.data[r.pos:])
	r.pos += size
	return c, size, nil
}

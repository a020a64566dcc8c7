package actions

import (
	"bytes"

	"github.com/millrace-go/millrace/internal/match"
)

// spliceBytes is what an edit takes in memory beside its text, in bytes. Very many edits of one byte are as dear as a long text, so
// that counts for the step as a whole, at once: several files are worked on at a time.
const spliceBytes = 64

// budget is what is left of the limits for one file in one step.
type budget struct {
	limits  Limits
	call    *Call
	matches int64
	bytes   int64
}

func (c *Call) budget() *budget {
	l := c.Limits
	return &budget{limits: l, call: c, matches: l.matches(), bytes: l.textBytes()}
}

// textBytes is how much new text a step may put into one file.
func (l Limits) textBytes() int64 { return min(l.OutputBytes(), l.stagedBytes()) }

// splice takes what an edit costs beside its text.
func (b *budget) splice() error { return b.call.spendBytes(spliceBytes) }

// tooMuch is the error of a file for whose new text there is no room.
func (b *budget) tooMuch() error {
	if b.limits.stagedBytes() < b.limits.OutputBytes() {
		return &LimitError{What: LimitStaged, Limit: b.limits.stagedBytes()}
	}
	return &LimitError{What: LimitOutput, Limit: b.limits.OutputBytes()}
}

// take takes so many bytes of new text from the budget.
func (b *budget) take(n int) error {
	if b.bytes -= int64(n); b.bytes < 0 {
		return b.tooMuch()
	}
	return nil
}

// replace returns what replaces a match in data, nil if that changes nothing, and takes it from the budget. A text that
// there is no room for is not made: a few groups in a replacement can stand for more than there is memory.
func (b *budget) replace(r *match.Replacer, loc []int, data []byte) ([]byte, error) {
	if b.matches--; b.matches < 0 {
		return nil, &LimitError{What: LimitMatches, Limit: b.limits.matches()}
	}
	old := data[loc[0]:loc[1]]
	if size := r.Size(loc); size > b.bytes && size != int64(len(old)) {
		return nil, b.tooMuch()
	}
	text := r.Replace(loc)
	if bytes.Equal(text, old) {
		return nil, nil
	}
	if err := b.take(len(text)); err != nil {
		return nil, err
	}
	if err := b.splice(); err != nil {
		return nil, err
	}
	return text, nil
}

// spend counts the new text of a file, which its budget has let pass, for the step as a whole.
func (c *Call) spend(b *budget) error {
	return c.spendBytes(b.limits.textBytes() - b.bytes)
}

func (c *Call) spendBytes(n int64) error {
	if most := c.Limits.stagedBytes(); c.spent.Add(n) > most {
		return &LimitError{What: LimitStaged, Limit: most}
	}
	return nil
}

package actions

import (
	"bytes"

	"github.com/millrace-go/millrace/internal/match"
)

// budget is what is left of the limits for one file in one step.
type budget struct {
	limits  Limits
	matches int64
	bytes   int64
}

func (l Limits) budget() *budget {
	return &budget{limits: l, matches: l.matches(), bytes: min(l.OutputBytes(), l.stagedBytes())}
}

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
	return text, nil
}

// spend counts the new text of a file, which its budget has let pass, for the step as a whole.
func (c *Call) spend(b *budget) error {
	full := b.limits.budget().bytes
	return c.spendBytes(full - b.bytes)
}

func (c *Call) spendBytes(n int64) error {
	if most := c.Limits.stagedBytes(); c.spent.Add(n) > most {
		return &LimitError{What: LimitStaged, Limit: most}
	}
	return nil
}

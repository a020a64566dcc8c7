package replace

import (
	"bytes"

	"github.com/millrace-go/millrace/internal/match"
)

// spliceBytes is the memory size of an edit in addition to its text, in bytes. It is counted for the whole step
// immediately, because several files are processed concurrently.
const spliceBytes = 64

// Limits are the cost limits for the edits of one file.
type Limits struct {
	// Matches is the maximum number of replaced matches, Text the maximum size of new text in bytes.
	Matches, Text int64
	// TooMany is the error for too many matches, TooMuch the error for too much text.
	TooMany, TooMuch error
	// Stage takes bytes from the common limit of all files, or returns them if n is negative. It fails if the limit is
	// exceeded. It is called from several goroutines.
	Stage func(n int64) error
}

// Budget is the remaining part of the limits on one file: matches to replace, and bytes of new text. It may only be
// used by one goroutine.
type Budget struct {
	Limits
	matches, text int64 // remaining
	staged        int64 // taken from the common limit
}

// NewBudget returns the budget of one file.
func NewBudget(l Limits) *Budget { return &Budget{Limits: l, matches: l.Matches, text: l.Text} }

// Restart returns everything taken, for a file that is edited again from its beginning.
func (b *Budget) Restart() {
	_ = b.stage(-b.staged) // the next caller that takes bytes notices an exceeded limit
	b.matches, b.text = b.Matches, b.Text
}

func (b *Budget) stage(n int64) error {
	b.staged += n
	return b.Stage(n)
}

// Left returns the remaining number of matches and bytes of new text.
func (b *Budget) Left() (matches, text int64) { return b.matches, b.text }

// Match takes a match.
func (b *Budget) Match() error {
	if b.matches--; b.matches < 0 {
		return b.TooMany
	}
	return nil
}

// Take takes n bytes of new text.
func (b *Budget) Take(n int) error {
	if b.text -= int64(n); b.text < 0 {
		return b.TooMuch
	}
	return nil
}

// Splice takes the cost of an edit in addition to its text.
func (b *Budget) Splice() error { return b.stage(spliceBytes) }

// Spend charges the new text that was taken to the common limit.
func (b *Budget) Spend() error { return b.stage(b.Text - b.text) }

// replace returns the replacement of a match in data, nil if it changes nothing. It takes the replacement from the
// budget before building it: a few groups in a template can expand to more than fits into memory.
func (b *Budget) replace(r *match.Replacer, loc []int, data []byte) ([]byte, error) {
	if err := b.Match(); err != nil {
		return nil, err
	}
	old := data[loc[0]:loc[1]]
	if size := r.Size(loc); size > b.text && size != int64(len(old)) {
		return nil, b.TooMuch
	}
	return b.changed(old, r.Replace(loc))
}

// replaceBy is replace with a ready text.
func (b *Budget) replaceBy(old, text []byte) ([]byte, error) {
	if err := b.Match(); err != nil {
		return nil, err
	}
	return b.changed(old, text)
}

// changed takes a text from the budget, and returns nil if it equals the old one.
func (b *Budget) changed(old, text []byte) ([]byte, error) {
	if bytes.Equal(text, old) {
		return nil, nil
	}
	if err := b.Take(len(text)); err != nil {
		return nil, err
	}
	if err := b.Splice(); err != nil {
		return nil, err
	}
	return text, nil
}

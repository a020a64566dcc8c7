package replace

import (
	"bytes"

	"github.com/millrace-go/millrace/internal/match"
)

// spliceBytes is what an edit takes in memory beside its text, in bytes. It counts at once for the step as a whole, as
// several files are worked on at a time.
const spliceBytes = 64

// Limits are what the edits of one file may cost.
type Limits struct {
	// Matches is how many matches are replaced at most, Text how many bytes of new text are put in.
	Matches, Text int64
	// TooMany is the error for more matches, TooMuch that for more text.
	TooMany, TooMuch error
	// Stage takes bytes from what all files together may take, or gives them back. The error is that there are too few.
	// It is called from several goroutines.
	Stage func(n int64) error
}

// Budget is what is left of the limits on one file: how many matches are replaced in it, and how many bytes of new text
// are put into it. It is for one goroutine.
type Budget struct {
	Limits
	matches, text int64 // that are left
	staged        int64 // what it took from all files together
}

// NewBudget returns the budget of one file.
func NewBudget(l Limits) *Budget { return &Budget{Limits: l, matches: l.Matches, text: l.Text} }

// Restart gives back what was taken, for a file that is edited from its beginning again.
func (b *Budget) Restart() {
	_ = b.stage(-b.staged) // the next caller that takes finds out if enough is left
	b.matches, b.text = b.Matches, b.Text
}

func (b *Budget) stage(n int64) error {
	b.staged += n
	return b.Stage(n)
}

// Left returns how many matches and how many bytes of new text there is room for.
func (b *Budget) Left() (matches, text int64) { return b.matches, b.text }

// Match takes a match.
func (b *Budget) Match() error {
	if b.matches--; b.matches < 0 {
		return b.TooMany
	}
	return nil
}

// Take takes so many bytes of new text.
func (b *Budget) Take(n int) error {
	if b.text -= int64(n); b.text < 0 {
		return b.TooMuch
	}
	return nil
}

// Splice takes what an edit costs beside its text.
func (b *Budget) Splice() error { return b.stage(spliceBytes) }

// Spend counts the new text that was taken for all files together.
func (b *Budget) Spend() error { return b.stage(b.Text - b.text) }

// replace returns what replaces a match in data, nil if that changes nothing, and takes it from the budget before it is
// made: a few groups in a replacement can stand for more than there is memory.
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

// replaceBy is replace with a text that is made already.
func (b *Budget) replaceBy(old, text []byte) ([]byte, error) {
	if err := b.Match(); err != nil {
		return nil, err
	}
	return b.changed(old, text)
}

// changed takes a text from the budget, and returns nil if it is the old one.
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

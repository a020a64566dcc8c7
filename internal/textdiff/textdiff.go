// Package textdiff compares two versions of a text line by line and writes the difference as a patch.
//
// [Hunks] finds the differences between two texts, each a [Source]: [Bytes] in memory, or a text of [Paged], which is
// read only around the changes. [Unified] prints them as a plain unified diff. [FilePatch] prints the whole change of
// one file (created, deleted, renamed, another mode, a symbolic link, binary bytes) as a section of a git patch;
// consecutive sections are accepted by `git apply`, by `git apply -R`, and, without binary files, by `patch -p1`.
//
// # How lines are compared
//
// A line ends after its '\n'; a CR belongs to its line, and a last line without '\n' differs from the same line with
// '\n'. Bytes are compared unchanged, no encoding is assumed.
//
// The engine first removes the common beginning and end, then the lines that are in only one version, which loses
// nothing. Then it uses Myers' search from both ends in linear space, which is exact, up to a limit on the cost. Beyond
// the limit it cuts the texts at sequences of lines that occur once in each: sequences of one line, which is patience
// diff, and if single lines are not unique, sequences of 2, 4, 8 lines and so on, which for repetitive text has the
// effect of a histogram without its quadratic cases. If that finds nothing, it continues from the furthest point of the
// search. The time is nearly linear in the size of the changed part, for any input.
//
// Results depend only on the arguments. All functions are safe for concurrent use; none keeps or changes its arguments,
// but hunks share memory with their texts.
package textdiff

import "github.com/millrace-go/millrace/change"

// Span is a range of bytes of the old text, from Old to before OldEnd, and the range of the new text in its place.
type Span struct{ Old, OldEnd, New, NewEnd int }

// Line is one line of a hunk.
type Line struct {
	Op   byte   // ' ' in both texts, '-' only in the old text, '+' only in the new text
	Text []byte // with its line end, if it has one
}

// Hunk is a group of changes that are close together, with the unchanged lines around them.
type Hunk struct {
	// OldStart and NewStart are the numbers of the first line in each text, counted from 1; if the hunk has no line in a
	// text, the number of the line before, 0 at the top, as in unified diffs.
	OldStart, OldLines int
	NewStart, NewLines int
	Lines              []Line
	// Cores are the runs of changed lines, at least one.
	Cores []Core
}

// Core is one sequence of changed lines of a hunk, without unchanged lines in between: replacing the bytes of its span
// applies it.
//
// It comes from the splices [From, To) of the list passed to [Hunks]. Their bytes may differ from its bytes: a change
// can be a few lines lower than where it was made, and two adjacent changes can share lines. But between the same two
// places of both texts, splices and core have the same effect. If some cores have no such place between them, all of
// them have the same splices, and only together have their effect.
type Core struct {
	Span
	OldLine, OldLines int // the number of the first line, counted from 0, and the number of lines
	NewLine, NewLines int
	From, To          int
}

// DefaultContext is the number of unchanged lines that a [FilePatch] shows around a change.
const DefaultContext = 3

// maxContext keeps twice the context, in lines, within a 32-bit int.
const maxContext = 1 << 28

// Hunks returns the changes from the old to the new text, in ascending order, with up to context unchanged lines before
// and after each change. Changes whose context would touch share a hunk. A negative context means 0. Equal texts have
// no hunks.
//
// With the splices that made the new text, only the lines that they touch are compared, so the time depends on the
// change and not on the text. Nil means to compare everything, and so do splices that are not in order or do not fit
// the sizes. An empty list that is not nil means that the texts are equal.
//
// For [Bytes] the error is always nil; otherwise it is a *[SourceError] with the error of a reader or of Tee,
// io.ErrUnexpectedEOF if a text is shorter than its size, or a *[LimitError].
func Hunks(old, new Source, splices []change.Splice, context int) (list []Hunk, err error) {
	defer stopped(&err)
	return texts{old: old, new: new}.hunks(splices, context), nil
}

type texts struct {
	old, new Source
	over     func() bool // reports whether the comparison was cancelled; nil for never
}

func (t texts) hunks(splices []change.Splice, context int) []Hunk {
	var hunks []Hunk
	context = min(max(context, 0), maxContext)
	for some := range grouped(t.cores(splices), context) {
		hunks = append(hunks, t.hunk(some, context))
	}
	t.old.finish()
	return hunks
}

// ended reports, in some of the rounds of a loop, whether the comparison was cancelled.
func (t texts) ended(round int) bool { return round%512 == 0 && t.over != nil && t.over() }

// cores returns the sequences of changed lines; none if the comparison was cancelled.
func (t texts) cores(splices []change.Splice) []Core {
	spans := Spans(splices)
	known := splices != nil && t.fit(spans)
	if !known {
		spans = []Span{{0, t.old.Size(), 0, t.new.Size()}}
	}
	var cores []Core
	at := cursor{}
	for i, b := range t.boxes(spans) {
		if t.ended(i) {
			return nil
		}
		cores = t.diffBox(cores, b, &at)
	}
	if t.ended(0) {
		return nil
	}
	if cores = t.compact(cores); t.ended(0) {
		return nil
	}
	if known {
		tie(cores, spans)
		return cores
	}
	for i := range cores {
		cores[i].To = len(splices) // all splices, whatever they contain
	}
	return cores
}

// cursor is a place in both texts whose line numbers are known; it only moves forward, so that counting line ends is
// one pass over the old text.
type cursor struct{ oldOff, oldLine, newOff, newLine int }

// common moves the cursor over bytes that are equal in both texts, up to oldOff in the old one.
func (c *cursor) common(old Source, oldOff int) {
	lines := old.newlines(c.oldOff, oldOff)
	c.newOff += oldOff - c.oldOff
	c.newLine += lines
	c.oldOff = oldOff
	c.oldLine += lines
}

// Package textdiff compares two versions of a text line by line and writes the difference as a patch.
//
// [Hunks] finds the differences between two texts, each a [Source]: [Bytes] in memory, or a text of [Paged], which is
// read only around the changes. [Unified] prints them as a plain unified diff. [FilePatch] prints the whole change of
// one file (created, deleted, renamed, another mode, a symbolic link, binary bytes) as a section of a git patch;
// sections written one after another are accepted by `git apply`, by `git apply -R`, and, where no binary file is among
// them, by `patch -p1`.
//
// # How lines are compared
//
// A line ends after its '\n'; a CR belongs to its line, and a last line without '\n' differs from the same line with
// one. Bytes are compared as they are, no encoding is assumed.
//
// The engine first cuts off the common beginning and end, then drops the lines that only one version has, which loses
// nothing. The rest goes through Myers' search from both ends in linear space, which is exact, up to a bound on the
// cost. Beyond the bound it cuts the texts at runs of lines that occur once in each: runs of one line, which is
// patience diff, and where single lines are not unique, runs of 2, 4, 8 lines and so on, which does for repetitive text
// what a histogram does, without its quadratic cases. Where even that finds nothing, it goes on from the furthest point
// that the search has reached. Time is near linear in the size of the changed part, whatever the input.
//
// Results depend on the arguments alone. All functions are safe for concurrent use; none keeps or changes what it was
// given, but hunks share memory with the texts they were made of.
package textdiff

import "github.com/millrace-go/millrace/change"

// Span is a run of bytes of the old text, from Old to before OldEnd, and what the new one has in its place.
type Span struct{ Old, OldEnd, New, NewEnd int }

// Line is one line of a hunk.
type Line struct {
	Op   byte   // ' ' in both texts, '-' in the old one only, '+' in the new one only
	Text []byte // with its line end, if it has one
}

// Hunk is a group of changes that lie close together, with the unchanged lines around them.
type Hunk struct {
	// OldStart and NewStart are the numbers of the first line in either text, counted from 1; where the hunk has no
	// line in a text, the number of the line before, 0 at the top, as unified diffs have it.
	OldStart, OldLines int
	NewStart, NewLines int
	Lines              []Line
	// Cores are the runs of changed lines, at least one.
	Cores []Core
}

// Core is one run of changed lines of a hunk, with no unchanged line in it: replacing the bytes of its span applies it.
//
// It comes from the splices [From, To) of the list that [Hunks] was given. Their bytes need not be its own: a change
// can stand a few lines lower than where it was made, and two that lie side by side can share lines. But between the
// same two places of both texts, splices and core do the same. Where no such place lies between some cores, all of them
// have the same splices, and only together do what these do.
type Core struct {
	Span
	OldLine, OldLines int // the number of the first line, counted from 0, and how many they are
	NewLine, NewLines int
	From, To          int
}

// DefaultContext is how many unchanged lines a [FilePatch] shows around a change.
const DefaultContext = 3

// maxContext keeps twice the context, in lines, within an int of 32 bits.
const maxContext = 1 << 28

// Hunks returns what makes the new text of the old one, in ascending order, with up to context unchanged lines before
// and after each change. Changes whose context would touch share a hunk. A negative context is taken as 0. Equal
// texts have no hunks.
//
// With the splices that have made the new text, only the lines they touch are compared, so the time follows the change
// and not the text. Nil means to compare everything, and so do splices that are not in order or do not fit the sizes.
// An empty list that is not nil means that the texts are equal.
//
// Of [Bytes] the error is always nil; else it is a *[SourceError] with that of a reader or of Tee,
// io.ErrUnexpectedEOF if a text is shorter than its size, or a *[LimitError].
func Hunks(old, new Source, splices []change.Splice, context int) (list []Hunk, err error) {
	defer stopped(&err)
	return texts{old: old, new: new}.hunks(splices, context), nil
}

type texts struct {
	old, new Source
	over     func() bool // whether the comparison was cancelled; nil for never
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

// ended reports, for some of the rounds of a loop, whether the comparison was cancelled.
func (t texts) ended(round int) bool { return round%512 == 0 && t.over != nil && t.over() }

// cores are the runs of changed lines; none if the comparison was cancelled.
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
		cores[i].To = len(splices) // all that were given, whatever they say
	}
	return cores
}

// cursor is a place in both texts whose line numbers are known; it only moves forward, so that all the counting of line
// ends is one pass over the old text.
type cursor struct{ oldOff, oldLine, newOff, newLine int }

// common moves the cursor over bytes that are equal in both texts, up to oldOff in the old one.
func (c *cursor) common(old Source, oldOff int) {
	lines := old.newlines(c.oldOff, oldOff)
	c.newOff += oldOff - c.oldOff
	c.newLine += lines
	c.oldOff = oldOff
	c.oldLine += lines
}

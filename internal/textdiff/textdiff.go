// Package textdiff compares two versions of a text line by line and writes the difference as a patch.
//
// [Hunks] finds the differences. [Unified] prints them as a plain unified diff. [FilePatch] prints the whole change of one
// file (created, deleted, renamed, another mode, a symbolic link, binary bytes) as a section of a git patch; sections
// written one after another are accepted by `git apply`, by `git apply -R`, and, where no binary file is among them, by
// `patch -p1`.
//
// # How lines are compared
//
// A line ends after its '\n'; a CR belongs to its line, and a last line without '\n' differs from the same line with
// one. Bytes are compared as they are, no encoding is assumed.
//
// The engine first cuts off what both versions begin and end with, then drops the lines that only one of them has, which
// loses nothing. What is left goes through Myers' search from both ends in linear space, which is exact, up to a bound on
// the cost. Beyond the bound it cuts the texts at runs of lines that occur once in each: runs of one line, which is
// patience diff, and where single lines are not unique, runs of 2, 4, 8 lines and so on, which does for repetitive text
// what a histogram does, without its quadratic cases. Where even that finds nothing, it goes on from the furthest point
// that the search has reached. Time is near linear in the size of the changed part, whatever the input.
//
// Results depend on the arguments alone. All functions are safe for concurrent use; none keeps or changes what it was
// given, but hunks share memory with the texts they were made of.
package textdiff

// Region is a pair of byte ranges, one in the old text and one in the new, known to differ from each other. A list of
// regions is in ascending order, its regions do not overlap, and all bytes outside of them are the same in both texts.
type Region struct{ OldOff, OldLen, NewOff, NewLen int }

// Line is one line of a hunk.
type Line struct {
	Op   byte   // ' ' in both texts, '-' in the old one only, '+' in the new one only
	Text []byte // with its line end, if it has one
}

// Hunk is a group of changes that lie close together, with the unchanged lines around them.
type Hunk struct {
	// OldStart and NewStart are the numbers of the first line in either text, counted from 1; where the hunk has no line
	// in a text, the number of the line before, 0 at the top, as unified diffs have it.
	OldStart, OldLines int
	NewStart, NewLines int
	Lines              []Line
	// The bytes from the first changed line to the last one, without the context before and after: replacing
	// old[OldOff:OldEnd] by new[NewOff:NewEnd] applies the hunk, putting old[OldOff:OldEnd] back rejects it.
	OldOff, OldEnd int
	NewOff, NewEnd int
	// Cores are the runs of changed lines, at least one.
	Cores []Core
}

// DefaultContext is how many unchanged lines a [FilePatch] shows around a change.
const DefaultContext = 3

// maxContext keeps twice the context, in lines, within an int of 32 bits.
const maxContext = 1 << 28

// Hunks returns what makes the new text of the old one, in ascending order, with up to context unchanged lines before and
// after each change. Changes whose context would touch share a hunk. A negative context is taken as 0. Equal texts have
// no hunks.
//
// With regions, only the lines they touch are compared, so the time follows the change and not the text. Nil regions, and
// regions that do not hold what [Region] says, mean to compare everything. An empty list that is not nil says that the
// texts are equal.
func Hunks(old, new []byte, regions []Region, context int) []Hunk {
	if regions != nil && hold(old, new, regions) {
		return hunksOf(whole(old), whole(new), regions, context)
	}
	list := hunksOf(whole(old), whole(new), []Region{{0, len(old), 0, len(new)}}, context)
	for _, h := range list {
		for i := range h.Cores {
			h.Cores[i].To = len(regions) // all that were given, whatever they say
		}
	}
	return list
}

// hunksOf is Hunks for regions that hold what they should.
func hunksOf(old, new *source, regions []Region, context int) []Hunk {
	return group(old, new, coresOf(old, new, regions), min(max(context, 0), maxContext))
}

// coresOf are the runs of changed lines.
func coresOf(old, new *source, regions []Region) []core {
	var cores []core
	at := cursor{}
	for _, b := range boxes(old, new, regions) {
		cores = diffBox(cores, old, new, b, &at)
	}
	cores = compact(old, new, cores)
	tie(cores, regions)
	return cores
}

// core is one run of changed lines: lines [oldLine, oldLine+oldN) of the old text, at bytes [oldOff, oldEnd), became the
// like in the new one. Line numbers count from 0.
type core struct {
	oldLine, oldN, newLine, newN   int
	oldOff, oldEnd, newOff, newEnd int
	from, to                       int // the regions it comes from, set by tie
}

// cursor is a place in both texts whose line numbers are known; it only moves forward, so that all the counting of line
// ends is one pass over the old text.
type cursor struct{ oldOff, oldLine, newOff, newLine int }

// common moves the cursor over bytes that are equal in both texts, up to oldOff in the old one.
func (c *cursor) common(old *source, oldOff int) {
	lines := old.newlines(c.oldOff, oldOff)
	c.newOff += oldOff - c.oldOff
	c.newLine += lines
	c.oldOff = oldOff
	c.oldLine += lines
}

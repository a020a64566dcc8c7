// Package replace computes the effect of rules on a text of any size: a list of splices.
//
// A [Rule] is a pattern and the replacement of its matches. [Rules] are several: either each applies to the result of
// the rules before it, or all apply to the original text. A [Draft] is a text with the splices so far. A [Budget]
// limits the total cost.
package replace

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/match"
)

// Rule is a pattern and the replacement of its matches. It is used for many texts, and is safe for concurrent use.
type Rule struct {
	Pattern  *match.Pattern
	Template match.Template
	By       []change.Origin // of the splices, which share it
	// Table, if not nil, returns the replacement of a match instead of Template; nil leaves the match unchanged.
	Table func(match []byte) []byte
	// Most is the maximum number of matches replaced in a text, 0 for all.
	Most int

	Matched atomic.Bool // anywhere
	Changed atomic.Bool // any bytes
	Laps    atomic.Bool // a match overlaps with a skipped match
}

// Splices returns a splice for each match in the text whose replacement changes something. seen, if not nil, is called
// with each match before it is replaced, and returns false for a match to leave unchanged.
func (r *Rule) Splices(
	ctx context.Context, text match.Content, how match.How, left *Budget, seen func(at *match.Window, loc []int) bool,
) ([]change.Splice, error) {
	f := finding{rule: r, left: left, seen: seen, off: -1}
	how.Template, how.Groups = &r.Template, r.Template.Groups()
	err := r.Pattern.Find(ctx, text, how, f.match)
	if f.matched {
		r.Matched.Store(true)
	}
	if len(f.list) > 0 {
		r.Changed.Store(true)
	}
	return f.list, cmp.Or(f.over, err)
}

// finding is the application of one rule to one text.
type finding struct {
	rule     *Rule
	left     *Budget
	seen     func(at *match.Window, loc []int) bool
	replacer *match.Replacer // for the window that begins at off
	off      int64
	matched  bool
	list     []change.Splice
	taken    int   // number of replaced matches
	over     error // of the budget
}

func (f *finding) match(at *match.Window, loc []int) bool {
	f.matched = true
	if f.off != at.Off {
		f.replacer, f.off = f.rule.Pattern.Replacer(f.rule.Template, at), at.Off
	}
	if f.seen != nil && !f.seen(at, loc) {
		return true
	}
	f.taken++
	var text []byte
	if old := at.Data[loc[0]:loc[1]]; f.rule.Table == nil {
		text, f.over = f.left.replace(f.replacer, loc, at.Data)
	} else if becomes := f.rule.Table(old); becomes != nil {
		text, f.over = f.left.replaceBy(old, becomes)
	}
	if text != nil {
		off, n := at.Off+int64(loc[0]), int64(loc[1]-loc[0])
		f.list = append(f.list, change.Splice{Off: off, Len: n, Text: text, By: f.rule.By})
	}
	return f.over == nil && (f.rule.Most == 0 || f.taken < f.rule.Most)
}

// Rules are applied to many texts in turn. They do not change, except for the results recorded in each.
type Rules struct {
	List         []*Rule
	Simultaneous bool // all of them match the original text, instead of the result of the rules before them
	Laps         bool // record which rules have overlapping matches
	Sizes        match.Sizes
	Name         string // of the text, see [match.How]
}

// Splices returns the effect of the rules on the text, and the number of places they changed. Both are zero if later
// rules have reverted all changes.
func (r *Rules) Splices(
	ctx context.Context, text match.Content, left *Budget,
) (list []change.Splice, places int, err error) {
	switch {
	case r.Simultaneous:
		list, err = r.together(ctx, text, left)
		return list, len(list), err
	case len(r.List) == 1:
		list, err = r.List[0].Splices(ctx, text, match.How{Sizes: r.Sizes, Name: r.Name}, left, r.laps(ctx, r.List[0]))
		return list, len(list), err
	}
	d, err := NewDraft(text, r.Sizes)
	if err != nil {
		return nil, 0, err
	}
	rounds := 0
	for _, rule := range r.List {
		next, err := rule.Splices(ctx, d, match.How{Sizes: r.Sizes, Name: r.Name}, left, r.laps(ctx, rule))
		if err == nil {
			err = d.Add(next)
		}
		if err != nil {
			return nil, 0, err
		}
		if places += len(next); len(next) > 0 {
			rounds++
		}
	}
	if rounds > 1 {
		if same, err := d.Same(ctx); same || err != nil {
			return nil, 0, err
		}
	}
	list, err = d.Splices()
	return list, places, err
}

// laps returns a function that records whether matches of a literal text overlap with others in their window, like the
// matches of "aa" in "aaa"; nil if r.Laps is not set.
func (r *Rules) laps(ctx context.Context, rule *Rule) func(at *match.Window, loc []int) bool {
	if !r.Laps || rule.Pattern.Mode() != match.Literal {
		return nil
	}
	return func(at *match.Window, loc []int) bool {
		length := loc[1] - loc[0]
		if first := FirstCharacter(at.Data[loc[0]:loc[1]]); length > first {
			lap, err := rule.Pattern.Contains(ctx, at.Data[loc[0]+first:min(len(at.Data), loc[1]+length-1)])
			if lap && err == nil {
				rule.Laps.Store(true)
			}
		}
		return true
	}
}

// FirstCharacter returns the size of the first character of a match of a literal text, in bytes. No other match begins
// within it. A "\r\n" is one character.
func FirstCharacter(match []byte) int {
	if bytes.HasPrefix(match, []byte("\r\n")) {
		return 2
	}
	return 1
}

// together is Splices for rules that all apply to the original text.
func (r *Rules) together(ctx context.Context, text match.Content, left *Budget) ([]change.Splice, error) {
	var all []change.Splice
	var spans []span
	for i, rule := range r.List {
		list, err := rule.Splices(ctx, text, match.How{Sizes: r.Sizes, Name: r.Name}, left,
			func(at *match.Window, loc []int) bool {
				spans = append(spans, span{at.Off + int64(loc[0]), at.Off + int64(loc[1]), i})
				return true
			})
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	if err := overlap(ctx, text, r.Sizes, spans); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b change.Splice) int { return cmp.Compare(a.Off, b.Off) })
	return all, nil
}

// OverlapError reports that two edits of one step change the same bytes.
type OverlapError struct {
	First, Second int // indices of the edits, from 0; the first one begins earlier in the text
	Line          int // the line where the second one begins
}

// Error names the edits and the line.
func (e *OverlapError) Error() string {
	if e.First == e.Second {
		return fmt.Sprintf("matches of edit %d overlap in line %d", e.First, e.Line)
	}
	return fmt.Sprintf(
		"edits %d and %d overlap in line %d; in mode 'sequential' each sees what the one before has left",
		e.First, e.Second, e.Line)
}

// MarshalJSON gives the code, the message and the paths.
func (e *OverlapError) MarshalJSON() ([]byte, error) { return errorform.Marshal("step_failed", e) }

// span is the place of a match of one rule.
type span struct {
	start, end int64
	rule       int
}

// overlap returns an *OverlapError if two of the spans share a byte of the text.
func overlap(ctx context.Context, text match.Content, sizes match.Sizes, spans []span) error {
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), cmp.Compare(a.rule, b.rule))
	})
	for i := 1; i < len(spans); i++ {
		if a, b := spans[i-1], spans[i]; b.start < a.end {
			line, err := lineAt(ctx, text, sizes, b.start)
			return cmp.Or(err, error(&OverlapError{First: a.rule, Second: b.rule, Line: line}))
		}
	}
	return nil
}

// lineAt returns the number of the line at an offset, from 1.
func lineAt(ctx context.Context, text match.Content, sizes match.Sizes, off int64) (line int, err error) {
	line = 1
	err = match.Pass(ctx, text, sizes, func(data []byte) bool {
		data = data[:min(int64(len(data)), off)]
		line += bytes.Count(data, []byte{'\n'})
		off -= int64(len(data))
		return off > 0
	})
	return line, err
}

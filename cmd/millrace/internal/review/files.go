package review

import (
	"cmp"
	"path"
	"slices"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/change"
)

// decision is the decision on an item.
type decision byte

const (
	undecided decision = iota
	taken
	left
)

func decisionOf(key rune) decision {
	if key == 'y' || key == 'a' || key == 'A' {
		return taken
	}
	return left
}

// file is the change of the plan at one path.
type file struct {
	change change.Change
	// all is the decision on the whole file while its items are not read.
	all   decision
	items []item
	diff  millrace.FileDiff
	// parts means that the items are hunks. Otherwise there is one item, the whole change.
	parts bool
	// unread is the reason why the file cannot be shown.
	unread error
}

// item is one decision: on a hunk, a part of one, a match in one, or a whole change.
type item struct {
	is   decision
	hunk millrace.Hunk
	// of is the hunk of which the item is match number match. Nil for other items.
	of    *matches
	match int
	// text is the user's replacement, and draft a refused one.
	text  *string
	draft string
}

// dir is a directory that is made, moved or removed because of changes below it, without a separate decision.
type dir struct {
	path    string
	created bool
}

// outline returns the files to decide on, and the directories that follow from them.
func outline(plan *millrace.Plan) (files []*file, dirs []dir) {
	changes := plan.Outline()
	below := make(map[string]bool) // directories with changes below them
	for _, c := range changes {
		for _, name := range [...]string{c.Path, c.OldPath()} {
			for d := path.Dir(name); d != "." && !below[d]; d = path.Dir(d) {
				below[d] = true
			}
		}
	}
	for _, c := range changes {
		isDir := cmp.Or(c.New.Kind, c.Old.Kind) == change.Dir &&
			(c.Old.Kind == change.Absent || c.Old.Kind == change.Dir)
		if isDir && c.Kind != change.Modified && (below[c.Path] || below[c.OldPath()]) {
			dirs = append(dirs, dir{c.Path, c.New.Kind == change.Dir})
			continue
		}
		files = append(files, &file{change: c})
	}
	return files, dirs
}

// load reads the hunks of a file. A file that cannot be read is decided as a whole.
func (r *Review) load(n int) {
	f := r.files[n]
	files, err := r.plan.Files(f.change.Path)
	f.unread = err
	for _, d := range files {
		if d.Path == f.change.Path {
			f.diff = d
		}
	}
	c := f.change
	f.items = []item{{is: f.all}}
	if c.Kind == change.Modified && len(f.diff.Hunks) > 0 && isFile(c) && c.Old.Mode == c.New.Mode {
		f.intoHunks()
	}
}

func isFile(c change.Change) bool { return c.Old.Kind == change.File && c.New.Kind == change.File }

// intoHunks makes each hunk an item.
func (f *file) intoHunks() {
	is := f.items[0].is
	f.items, f.parts = nil, true
	for _, h := range f.diff.Hunks {
		f.items = append(f.items, item{is: is, hunk: h})
	}
}

// open returns the first undecided item of the file, starting at an item. ok is false if all are decided.
func (f *file) open(from int) (item int, ok bool) {
	if f.items == nil {
		return 0, f.all == undecided
	}
	for i := from; i < len(f.items); i++ {
		if f.items[i].is == undecided {
			return i, true
		}
	}
	return 0, false
}

// decide applies a decision to all undecided items of a file, starting at an item.
func (f *file) decide(from int, is decision) {
	if f.items == nil {
		f.all = is
	}
	for i := from; i < len(f.items); i++ {
		if f.items[i].is == undecided {
			f.items[i].is = is
		}
	}
}

// takes reports whether the whole file is accepted as planned, and whether nothing of it is.
func (f *file) takes() (all, none bool) {
	if f.items == nil {
		return f.all == taken, f.all != taken
	}
	all, none = true, !f.renamedByHunks()
	for _, i := range f.items {
		if i.is == taken {
			none = false
		}
		if i.is != taken || i.text != nil {
			all = false
		}
	}
	return all, none
}

// renamedByHunks reports whether a file gets another name or mode, regardless of the decisions on its hunks.
func (f *file) renamedByHunks() bool { return f.parts && Renames(f.change) }

// Renames reports whether a change has a new name or a new mode, which applies even if all hunks are left out.
func Renames(c change.Change) bool { return c.Kind == change.Renamed || c.Old.Mode != c.New.Mode }

// steps returns the ids of the steps that made the change of a file, in the order they ran.
func (f *file) steps() []string {
	return millrace.Hunk{By: f.change.By}.Steps()
}

// stepsOf returns the ids of the steps that made an item.
func (f *file) stepsOf(n int) []string {
	if f.parts {
		return f.items[n].hunk.Steps()
	}
	return f.steps()
}

// by reports whether a single step has made the whole change.
func (f *file) by(step string) bool {
	other := func(o change.Origin) bool { return o.Step != step }
	return len(f.change.By) > 0 && !slices.ContainsFunc(f.change.By, other)
}

func (f *file) copied() file {
	c := *f
	c.items = slices.Clone(f.items)
	return c
}

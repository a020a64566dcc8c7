package millrace

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/textdiff"
)

// FileDiff is the difference at one path of a plan, for showing it.
type FileDiff struct {
	Kind fsutil.ChangeKind `json:"kind"`
	Path string            `json:"path"`
	From string            `json:"from,omitempty"`
	// Binary says that the file has NUL bytes at its beginning, and thus no hunks.
	Binary bool `json:"binary,omitempty"`
	// Hunks are the places that differ, from top to bottom. None for a binary file, a directory, and where only the
	// name or the mode differs.
	Hunks []Hunk `json:"hunks,omitempty"`
}

// Diff returns what the plan changes as a patch in git's format, which `git apply` and, where no binary file is among
// them, `patch -p1` accept. Directories are not part of it. If a file of the tree has changed so that the diff cannot
// be worked out any more, the text says so and holds no patch; [Plan.WriteDiff] returns an error then.
func (p *Plan) Diff() string {
	var b strings.Builder
	if err := p.WriteDiff(&b); err != nil {
		return fmt.Sprintf("the diff cannot be shown: %v\n", err)
	}
	return b.String()
}

// WriteDiff writes the text of [Plan.Diff], one file after the other. A large text file that was edited is not held as
// a whole for it: the error is an *actions.LimitError if the lines that differ, with those around them, are more than
// MaxOutputBytes of the executor allows. Any other file is: then it is one if the file is larger than MaxFileBytes
// allows, or, as the plan would leave it, by more than MaxOutputBytes. A plan can be committed that cannot be shown.
//
// With paths, only what happens at these, and below those that are directories, is written; other files are not read.
// Of a file that was renamed, the path is its new one. It is an error to name a path at which nothing changes.
func (p *Plan) WriteDiff(w io.Writer, paths ...string) error {
	for _, name := range paths {
		if !slices.ContainsFunc(p.changes, func(c fsutil.Change) bool { return fsutil.Within(c.Path, name) }) {
			return fmt.Errorf("diff of %s: %w", name, errNoChange)
		}
	}
	done, err := p.reading()
	if err != nil {
		return err
	}
	defer done()
	for _, patch := range p.patches() {
		within := func(name string) bool { return fsutil.Within(patch.change.Path, name) }
		if len(paths) > 0 && !slices.ContainsFunc(paths, within) {
			continue
		}
		side, err := patch.load(p)
		if err != nil {
			return err
		}
		if _, err := side.WriteTo(w); err != nil {
			return err
		}
	}
	return nil
}

// Files returns the differences, with their hunks, in path order.
func (p *Plan) Files() ([]FileDiff, error) {
	done, err := p.reading()
	if err != nil {
		return nil, err
	}
	defer done()
	files := make([]FileDiff, len(p.changes))
	for i, c := range p.changes {
		f := FileDiff{Kind: c.Kind, Path: c.Path, From: c.From}
		hunks, binary, err := p.hunksOf(c)
		if err != nil {
			return nil, err
		}
		f.Binary, f.Hunks = binary, hunksToShow(c, hunks)
		files[i] = f
	}
	return files, nil
}

// hunksOf compares the two sides of a change that has a file on both, or on one.
func (p *Plan) hunksOf(c fsutil.Change) (hunks []textdiff.Hunk, binary bool, err error) {
	if c.Old.Kind != fsutil.File && c.New.Kind != fsutil.File {
		return nil, false, nil
	}
	if c.Old.Kind == c.New.Kind && c.Old.Hash == c.New.Hash {
		return nil, false, nil
	}
	return p.compare(c)
}

// compare returns the places that differ.
func (p *Plan) compare(c fsutil.Change) (hunks []textdiff.Hunk, binary bool, err error) {
	if isEditedLarge(c) {
		s, err := p.openSparse(c)
		if s != nil {
			defer s.close()
			if binary, err = s.isBinary(); err == nil && !binary {
				hunks, err = s.hunks()
			}
			return hunks, binary, err
		}
		if err != nil {
			return nil, false, err
		}
	}
	before, after, err := p.contents(c)
	if err != nil {
		return nil, false, err
	}
	if fsutil.IsBinary(before) || fsutil.IsBinary(after) {
		return nil, true, nil
	}
	return textdiff.Hunks(before, after, regions(c.Splices), textdiff.DefaultContext), false, nil
}

// regions are the byte ranges that splices have changed.
func regions(splices []fsutil.Splice) []textdiff.Region {
	if splices == nil {
		return nil
	}
	all := make([]textdiff.Region, len(splices))
	shift := int64(0)
	for i, s := range splices {
		all[i] = textdiff.Region{OldOff: int(s.Off), OldLen: int(s.Len), NewOff: int(s.Off + shift), NewLen: len(s.Text)}
		shift += int64(len(s.Text)) - s.Len
	}
	return all
}

// contents reads both sides of a change; a side that is no file is empty. Sides that are too large are not read.
func (p *Plan) contents(c fsutil.Change) (before, after []byte, err error) {
	if err := p.tree.x.checkPreview(c); err != nil {
		return nil, nil, fmt.Errorf("show %s: %w", c.Path, err)
	}
	if c.Old.Kind == fsutil.File {
		if before, err = readAll(c.OpenOld, c.Old.Size); err != nil {
			return nil, nil, fmt.Errorf("read %s: %w", c.Path, err)
		}
		if fsutil.HashOf(before) != c.Old.Hash {
			return nil, nil, &fs.PathError{Op: "read", Path: c.Path, Err: fsutil.ErrDrift}
		}
	}
	if c.New.Kind == fsutil.File {
		if after, err = readAll(c.OpenNew, c.New.Size); err != nil {
			return nil, nil, fmt.Errorf("read %s: %w", c.Path, err)
		}
	}
	return before, after, nil
}

// readAll reads what is said to have that many bytes. Of what has more, one is read too many, which its hash tells.
func readAll(open fsutil.Opener, size int64) ([]byte, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, size+1))
}

// patch is one section of a git patch that is to be made.
type patch struct {
	oldPath, newPath string
	old, new         fsutil.State
	change           fsutil.Change
	replaced         bool // old is what stands at newPath in the tree, not what the change says
}

// patches lists the sections that together are the plan. Git's format knows a rename only from a name that is free
// afterwards to one that was free before; all others are written as what happens to each name (swaps).
func (p *Plan) patches() []patch {
	taken := make(map[string]bool)
	for _, c := range p.changes {
		if hasText(c.New) {
			taken[c.Path] = true
		}
	}
	var all []patch
	for _, c := range p.changes {
		whole := patch{oldPath: c.Path, newPath: c.Path, old: textual(c.Old), new: textual(c.New), change: c}
		switch {
		case !hasText(c.Old) && !hasText(c.New):
		case c.Kind != fsutil.Renamed:
			all = append(all, whole)
		case !taken[c.From] && !hasText(c.Replaced):
			whole.oldPath = c.From
			all = append(all, whole)
		default:
			if !taken[c.From] {
				all = append(all, patch{oldPath: c.From, newPath: c.From, old: c.Old, change: c})
			}
			whole.old, whole.replaced = textual(c.Replaced), true
			all = append(all, whole)
		}
	}
	return all
}

func hasText(s fsutil.State) bool { return s.Kind == fsutil.File || s.Kind == fsutil.Symlink }

// textual returns the state if git would keep it, or nothing.
func textual(s fsutil.State) fsutil.State {
	if hasText(s) {
		return s
	}
	return fsutil.State{}
}

// load reads what the section is about.
func (s patch) load(p *Plan) (textdiff.FilePatch, error) {
	f := textdiff.FilePatch{
		OldName: s.oldPath, NewName: s.newPath, OldMode: gitMode(s.old), NewMode: gitMode(s.new), Rename: s.oldPath != s.newPath,
	}
	if !s.replaced && s.old.Kind == fsutil.File && s.new.Kind == fsutil.File {
		if done, err := p.loadSparse(&f, s.change); done || err != nil {
			return f, err
		}
	}
	before, after, err := p.contents(s.change)
	if err != nil {
		return f, err
	}
	if s.replaced {
		before = nil
		if s.old.Kind == fsutil.File {
			if before, err = p.readBase(s.newPath, s.old); err != nil {
				return f, err
			}
		}
	} else if s.old.Kind == fsutil.File && s.new.Kind == fsutil.File {
		f.Regions = regions(s.change.Splices)
	}
	f.Old, f.New = sideOf(s.old, before), sideOf(s.new, after)
	return f, nil
}

func sideOf(s fsutil.State, content []byte) []byte {
	switch s.Kind {
	case fsutil.Symlink:
		return []byte(s.Target)
	case fsutil.File:
		return content
	default:
		return nil
	}
}

// gitMode is the mode that git keeps: of a file only whether its owner may execute it.
func gitMode(s fsutil.State) uint32 {
	switch {
	case s.Kind == fsutil.Symlink:
		return 0o120000
	case s.Kind != fsutil.File:
		return 0
	case s.Mode&0o100 != 0:
		return 0o100755
	default:
		return 0o100644
	}
}

// readBase reads a file of the tree that must not have changed.
func (p *Plan) readBase(path string, s fsutil.State) ([]byte, error) {
	if err := tooLarge(s, p.tree.x.limits().FileBytes()); err != nil {
		return nil, fmt.Errorf("show %s: %w", path, err)
	}
	data, err := readAll(func() (io.ReadCloser, error) { return p.tree.fs.Open(path) }, s.Size)
	if err == nil && fsutil.HashOf(data) != s.Hash {
		err = &fs.PathError{Op: "read", Path: path, Err: fsutil.ErrDrift}
	}
	return data, err
}

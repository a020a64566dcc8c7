package lsp

import (
	"fmt"
	"io/fs"
	"unicode/utf8"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
)

// unsayable returns the reason why a change cannot be expressed on its own, "" if it can.
func (w *writer) unsayable(c change.Change) string {
	switch {
	case c.Old.Kind == change.Symlink || c.New.Kind == change.Symlink:
		return "it is a symbolic link"
	case c.Replaced.Kind == change.Symlink:
		return "it takes the place of a symbolic link"
	case c.Old.Kind == change.Other || c.New.Kind == change.Other || c.Replaced.Kind == change.Other:
		return "it is neither a file nor a directory"
	}
	if !utf8.ValidString(c.Path) || !utf8.ValidString(c.From) {
		return "its name has bytes that are no UTF-8"
	}
	return ""
}

// lost lists the parts of a change that the edit loses.
func lost(c change.Change, fresh bool) []Unsupported {
	switch {
	case c.New.Kind == change.Absent:
		return nil
	case fresh || c.Old.Kind != c.New.Kind:
		if !usual(c.New) {
			return []Unsupported{{c.Path, fmt.Sprintf("it gets the mode %04o", octal(c.New.Mode))}}
		}
	case c.Kind == change.Renamed && c.New.Kind == change.Dir:
		if !usual(c.New) { // the directory is created again
			return []Unsupported{{c.Path, fmt.Sprintf("it keeps the mode %04o", octal(c.New.Mode))}}
		}
	case c.Old.Mode != c.New.Mode:
		return []Unsupported{{c.Path, fmt.Sprintf("its mode changes from %04o to %04o", octal(c.Old.Mode),
			octal(c.New.Mode))}}
	case c.Kind == change.Modified && c.Old.SameContent(c.New):
		return []Unsupported{{c.Path, "its time changes"}}
	}
	return nil
}

// usual reports whether the mode of a new file or directory is a mode that an editor creates, which depends on the
// user's umask.
func usual(s change.State) bool {
	switch m := s.Mode.Perm(); {
	case s.Mode != m:
		return false
	case s.Kind == change.Dir:
		return m == 0o755 || m == 0o775 || m == 0o777
	default:
		return m == 0o644 || m == 0o664 || m == 0o666
	}
}

// octal returns a mode in the bits that chmod uses.
func octal(m fs.FileMode) uint32 {
	bits := uint32(m.Perm())
	for i, bit := range []fs.FileMode{fs.ModeSticky, fs.ModeSetgid, fs.ModeSetuid} {
		if m&bit != 0 {
			bits |= 0o1000 << i
		}
	}
	return bits
}

// leaveOutMore adds to out the changes that need the place of a change that is left out, the directories that keep a
// file for that reason, and directories that would be empty.
func (w *writer) leaveOutMore(changes []change.Change, out map[string]string) {
	kept := make(map[string]string) // what stays where it was, and the change for which it does
	inside := make(map[string]string)
	stay := func(name, because string) {
		kept[name] = because
		within(name, func(dir string) { inside[dir] = because })
	}
	leave := func(c change.Change) {
		if c.Old.Kind != change.Absent &&
			(c.Kind == change.Deleted || c.Kind == change.Renamed || c.Old.Kind != c.New.Kind) {
			stay(c.OldPath(), c.Path)
		}
		if c.Replaced.Kind != change.Absent && !w.moved[c.Path] {
			stay(c.Path, c.Path)
		}
	}
	for _, c := range changes {
		if _, ok := out[c.Path]; ok {
			leave(c)
		}
	}
	for again := true; again; {
		again = false
		filled := filledBy(changes, out)
		for _, c := range changes {
			if _, ok := out[c.Path]; ok {
				continue
			}
			made := c.New.Kind == change.Dir && (c.Old.Kind != change.Dir ||
				c.Kind == change.Renamed && c.Replaced.Kind != change.Dir)
			because := w.needs(c, kept, inside)
			switch {
			case because != "":
				out[c.Path] = fmt.Sprintf("it needs that %s is changed, which is left out", fsutil.Visible(because))
			case made && !filled[c.Path]:
				out[c.Path] = "it is a directory without a text in it"
			default:
				continue
			}
			leave(c)
			again = true
		}
	}
}

// filledBy returns the directories that contain a file at the end, for which there is a change that is not left out.
func filledBy(changes []change.Change, out map[string]string) map[string]bool {
	filled := make(map[string]bool)
	for _, c := range changes {
		if _, ok := out[c.Path]; !ok && c.New.Kind == change.File {
			within(c.Path, func(dir string) { filled[dir] = true })
		}
	}
	return filled
}

// needs returns the change that is left out and that this change depends on, or "".
func (w *writer) needs(c change.Change, kept, inside map[string]string) string {
	goes := c.Kind == change.Deleted || c.Kind == change.Renamed || c.Old.Kind != c.New.Kind
	if c.Old.Kind == change.Dir && goes && inside[c.OldPath()] != "" {
		return inside[c.OldPath()]
	}
	if c.New.Kind == change.File && (w.fresh(c) || c.Kind == change.Renamed) {
		because := kept[c.Path]
		if because == "" {
			because = inside[c.Path]
		}
		within(c.Path, func(dir string) {
			if kept[dir] != "" && because == "" {
				because = kept[dir]
			}
		})
		return because
	}
	return ""
}

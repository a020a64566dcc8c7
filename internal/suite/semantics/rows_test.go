package semantics_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// saveRows returns the rows that can be measured on every system.
func saveRows() []saveRow {
	inode := func(was, is seen) bool { return was.id.SameFile(is.id) }
	mode := func(was, is seen) bool { return was.mode == is.mode }
	return append(bytesRows(), []saveRow{
		{
			name: "mode, such as 0751", missing: needsModes, same: mode, want: keptByAll,
			prepare: func(dir string) error { return os.Chmod(filepath.Join(dir, subject), 0o751) },
		},
		{
			name: "time", same: func(was, is seen) bool { return was.mtime.Equal(is.mtime) },
			changed: func(was, is seen) string { return timeWord(is) },
			want: saveWords{
				edit: "of now", rename: kept, copy: "of now", del: gone, editBack: asBefore, renameBack: asBefore, copyBack: copyGone, delBack: asBefore,
			},
		},
		{
			name: "inode", missing: needsInodes, same: inode, changed: func(was, is seen) string { return newInode },
			want: saveWords{
				edit: newInode, rename: kept, copy: newInode, del: gone, editBack: newInode, renameBack: asBefore, copyBack: copyGone, delBack: newInode,
			},
		},
		{
			name: "another hard link to it", missing: needsInodes, word: hardLinkWord,
			prepare: func(dir string) error { return os.Link(filepath.Join(dir, subject), filepath.Join(dir, "twin")) },
			want: saveWords{
				edit: "new inode, the other name keeps the old bytes", rename: kept, copy: "not one of the copy", del: "stays",
				editBack: "old bytes, in two inodes", renameBack: asBefore, copyBack: copyGone, delBack: "old bytes, in two inodes",
			},
		},
		{
			name: "symbolic link to it, named in its place", names: "link", missing: needsLinks, word: symlinkWord,
			prepare: func(dir string) error { return os.Symlink(subject, filepath.Join(dir, "link")) },
			want: saveWords{
				edit: "stays, its target is edited", rename: "moved, its target stays", copy: "stays, its target is copied", del: "gone, its target stays",
				editBack: asBefore, renameBack: asBefore, copyBack: asBefore, delBack: asBefore,
			},
		},
		{
			name: "nothing in it matches: bytes, mode, times, inode", content: "nothing to find\n", word: func(m measurement) string {
				switch {
				case !m.replaces():
					return notFor
				case m.before[subject] == m.after[subject]:
					return untouched
				}
				return "touched"
			},
			want: saveWords{
				edit: untouched, rename: notFor, copy: notFor, del: notFor, editBack: notFor, renameBack: notFor, copyBack: notFor, delBack: notFor,
			},
		},
		{
			name: "its directory: mode", missing: needsModes, word: func(m measurement) string {
				if m.before["d"].mode == m.after["d"].mode {
					return kept
				}
				return "lost"
			},
			prepare: func(dir string) error { return os.Chmod(filepath.Join(dir, "d"), 0o710|fs.ModeSticky) },
			want:    saveWords{kept, kept, kept, kept, kept, kept, kept, kept},
		},
		{
			name: "its directory: time", word: func(m measurement) string { return timeWord(m.after["d"]) },
			want: saveWords{"of now", "of now", "of now", "of now", "of now", "of now", "of now", "of now"},
		},
		{
			name: "seen by others meanwhile", missing: needsReaders, measure: readMeanwhile,
			want: saveWords{
				edit: "old or new, whole", rename: "whole, under one name or both", copy: "whole or not there", del: "whole or not there",
				editBack: "old or new, whole", renameBack: "whole, under one name or both", copyBack: "whole or not there", delBack: "whole or not there",
			},
		},
	}...)
}

// bytesRows returns rows about bytes outside of the match. Every row checks the bytes; these rows have bytes that a
// careless program would lose.
func bytesRows() []saveRow {
	rest := func(was, is seen) bool { return true }
	row := func(name, content string) saveRow {
		return saveRow{name: name, content: content, same: rest, want: keptByAll}
	}
	empty := saveRow{
		name: "no bytes at all", prepare: func(dir string) error { return os.Truncate(filepath.Join(dir, subject), 0) },
		same: func(was, is seen) bool { return is.size == 0 }, want: keptByAll,
	}
	empty.want.editBack = notFor
	return []saveRow{
		row("CR LF line ends", "one\r\nold\r\nthree\r\n"),
		row("mixed line ends", "one\nold\r\nthree\rfour\n\r"),
		row("bytes FF FE in the middle", "one \xff\xfe old \xff\xfe\n"),
		row("byte order mark", "\xef\xbb\xbfold\n"),
		row("no line end at the end", "one\nold"),
		empty,
	}
}

func needsModes(string) string {
	if runtime.GOOS == "windows" {
		return "Windows has no modes"
	}
	return ""
}

func needsInodes(string) string {
	if runtime.GOOS == "windows" {
		return "inodes and links are looked at on Unix"
	}
	return ""
}

func needsLinks(dir string) string {
	if err := os.Symlink("x", filepath.Join(dir, "probe")); err != nil {
		return "no symbolic links here: " + err.Error()
	}
	return ""
}

func needsReaders(string) string {
	if runtime.GOOS == "windows" {
		return "Windows does not let a file be replaced that is open"
	}
	return ""
}

func hardLinkWord(m measurement) string {
	was, twin := m.before["twin"], m.after["twin"]
	is, ok := m.after[m.place()]
	switch {
	case twin.data != was.data || !twin.id.SameFile(was.id) || twin.mode != was.mode || !twin.mtime.Equal(was.mtime):
		return "the other name has changed"
	case !ok && m.restored:
		return copyGone
	case !ok:
		return "stays"
	case is.id.SameFile(twin.id) && m.restored:
		return asBefore
	case is.id.SameFile(twin.id):
		return kept
	case m.action == "copy":
		return "not one of the copy"
	case is.data == twin.data:
		return "old bytes, in two inodes"
	}
	return "new inode, the other name keeps the old bytes"
}

func symlinkWord(m measurement) string {
	was, target := m.before["link"], m.before[subject]
	is, ok := m.after["link"]
	targetIs := m.after[subject]
	stays := ok && is.data == was.data && is.mode == was.mode
	switch {
	case m.restored && stays && targetIs.data == target.data && targetIs.mode == target.mode:
		return asBefore
	case m.restored:
		return "lost"
	case !stays && !ok && targetIs == target && m.after[result].data == was.data && m.after[result].id.SameFile(was.id):
		return "moved, its target stays"
	case !ok && targetIs == target:
		return "gone, its target stays"
	case stays && m.action == "copy" && targetIs == target && m.after[result].mode.IsRegular():
		return "stays, its target is copied"
	case stays && targetIs.data != target.data:
		return "stays, its target is edited"
	}
	return "lost"
}

// timeWord distinguishes the time of the commit from that of the planted files, which is years ago.
func timeWord(is seen) string {
	if age := time.Since(is.mtime).Abs(); age < time.Hour {
		return "of now"
	}
	return "of " + is.mtime.String()
}

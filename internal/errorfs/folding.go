package errorfs

import (
	"path"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/names"
)

// Folding treats names that fold to the same name as the same file, and keeps the first spelling, like the file systems
// of macOS and Windows, and ext4 in a directory with the flag +F.
func Folding(fsys afero.Fs, fold func(name string) string) afero.Fs {
	f := folding{fsys, fold}
	return Wrap(fsys, func(op *Op, do func() error) error {
		switch op.Kind {
		case "identity":
			return do()
		case "rename", "noreplace":
			op.Name = f.target(op.From, op.Name)
			op.From = f.spelled(op.From)
		case "exchange", "link", "copymeta", "inherit":
			op.From, op.Name = f.spelled(op.From), f.spelled(op.Name)
		default:
			op.Name = f.spelled(op.Name)
		}
		return do()
	})
}

type folding struct {
	below afero.Fs
	fold  func(string) string
}

// spelled returns the name in the spelling of the directories. A missing last part is returned as given.
func (f folding) spelled(name string) string {
	clean, err := names.Clean(name)
	if err != nil || clean == "." {
		return name
	}
	at := "."
	for part := range strings.SplitSeq(clean, "/") {
		at = path.Join(at, f.entry(at, part))
	}
	return at
}

func (f folding) entry(dir, part string) string {
	d, err := f.below.Open(dir)
	if err != nil {
		return part
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	if i := slices.IndexFunc(names, func(n string) bool { return f.fold(n) == f.fold(part) }); i >= 0 {
		return names[i]
	}
	return part
}

// target returns the resulting name of a rename: the old spelling of a file that it replaces, or the new spelling of
// the file that it moves.
func (f folding) target(from, to string) string {
	if at := f.spelled(to); at != f.spelled(from) {
		return at
	}
	return path.Join(path.Dir(f.spelled(to)), path.Base(to))
}

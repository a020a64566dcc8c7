package textdiff

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/millrace-go/millrace/change"
)

// The modes of a [FilePatch], with the values of git. ModeAbsent means a missing file.
const (
	ModeAbsent  uint32 = 0
	ModeFile    uint32 = 0o100644
	ModeExec    uint32 = 0o100755
	ModeSymlink uint32 = 0o120000
)

// sniffLen is how many bytes of a file git reads to decide whether the file is binary.
const sniffLen = 8000

// IsBinary reports whether git treats either text as binary: whether it has a NUL byte in its first 8000 bytes. It
// returns the errors of [Hunks].
func IsBinary(old, new Source) (binary bool, err error) {
	defer stopped(&err)
	return texts{old: old, new: new}.binary(), nil
}

func (t texts) binary() bool {
	sniff := func(s Source) bool { return s.index(0, 0, min(s.Size(), sniffLen)) >= 0 }
	return sniff(t.old) || sniff(t.new)
}

func all(s Source) []byte { return s.slice(0, s.Size()) }

// typeMask selects the bits of a mode that distinguish a file from a symbolic link.
const typeMask uint32 = 0o170000

// FilePatch is the change of one file or symbolic link. A created file has OldMode [ModeAbsent], a deleted file has
// NewMode [ModeAbsent]. Copies are written as created files: git cannot apply a patch that copies in reverse.
//
// If several changes affect one path, git requires the section that removes the old file, by deletion or by rename,
// before the section that puts another file there. Otherwise renames may form chains and circles, in any order.
type FilePatch struct {
	// OldName and NewName are slash-separated paths relative to the root of the tree. The file was renamed if they
	// differ; the name on a side without a file does not count.
	OldName, NewName string
	OldMode, NewMode uint32
	// Old and New are the bytes of the file before and after, or the target of a symbolic link. They are ignored on a side
	// without a file.
	Old, New Source
	// Splices are the splices that made New from Old, see [Hunks]. Nil means to find the differences.
	Splices []change.Splice
}

// Print writes the change as one section of a git patch, or as two sections if a file becomes a symbolic link or the
// reverse: git, too, deletes one and creates the other. It writes nothing if nothing changes. Texts have
// [DefaultContext] lines of context. A file with a NUL byte near its beginning, see [IsBinary], is written as a binary
// patch that has both versions, and names them by their SHA-1, as needed for git's usual object format.
//
// It returns the errors of [Hunks], before anything is written, or an error of w.
func (f FilePatch) Print(w io.Writer) (err error) {
	defer stopped(&err)
	none := Bytes(nil)
	p := newPrinter(w)
	switch {
	case f.OldMode == ModeAbsent:
		f.OldName, f.Old = f.NewName, none
		p.section(f)
	case f.NewMode == ModeAbsent:
		f.NewName, f.New = f.OldName, none
		p.section(f)
	case f.OldMode&typeMask != f.NewMode&typeMask:
		p.section(FilePatch{OldName: f.OldName, OldMode: f.OldMode, NewName: f.OldName, Old: f.Old, New: none})
		p.section(FilePatch{OldName: f.NewName, NewMode: f.NewMode, NewName: f.NewName, Old: none, New: f.New})
	default:
		p.section(f)
	}
	return p.w.Flush()
}

// section writes the change of one file that keeps its type. Both names are set.
func (p *printer) section(f FilePatch) {
	created, deleted, renamed := f.OldMode == ModeAbsent, f.NewMode == ModeAbsent, f.OldName != f.NewName
	var hunks []Hunk
	t := texts{old: f.Old, new: f.New}
	binary := t.binary()
	if binary {
		binary = !bytes.Equal(all(f.Old), all(f.New))
	} else {
		hunks = t.hunks(f.Splices, DefaultContext)
	}
	changed := binary || len(hunks) > 0
	if !changed && !created && !deleted && !renamed && f.OldMode == f.NewMode {
		return
	}
	named := quote
	if len(hunks) == 0 {
		// Here git prints spaces unquoted, and guesses; patch cannot guess, because it has no other line with the name.
		named = quoteSpaces
	}
	p.print("diff --git ", named("a/"+f.OldName), " ", named("b/"+f.NewName), "\n")
	switch {
	case created:
		p.print("new file mode ", octal(f.NewMode), "\n")
	case deleted:
		p.print("deleted file mode ", octal(f.OldMode), "\n")
	case f.OldMode != f.NewMode:
		p.print("old mode ", octal(f.OldMode), "\nnew mode ", octal(f.NewMode), "\n")
	}
	if renamed {
		p.print("similarity index ", strconv.Itoa(similarity(f, hunks)), "%\n")
		p.print("rename from ", named(f.OldName), "\nrename to ", named(f.NewName), "\n")
	}
	if binary || (created || deleted) && !changed || f.OldMode == ModeSymlink && f.NewMode == ModeSymlink {
		p.index(f)
	}
	switch {
	case binary:
		p.print("GIT binary patch\n")
		p.literal(all(f.New))
		p.literal(all(f.Old))
	case changed:
		from, to := "a/"+f.OldName, "b/"+f.NewName
		if created {
			from = "/dev/null"
		}
		if deleted {
			to = "/dev/null"
		}
		p.fileLine("--- ", from)
		p.fileLine("+++ ", to)
		for _, h := range hunks {
			p.head(h)
			for _, l := range h.Lines {
				p.line(l.Op, l.Text)
			}
		}
	}
}

func octal(mode uint32) string { return fmt.Sprintf("%06o", mode) }

// similarity returns the percentage of the longer text that is in both.
func similarity(f FilePatch, hunks []Hunk) int {
	longer := int64(max(f.Old.Size(), f.New.Size()))
	if longer == 0 {
		return 100
	}
	kept := int64(f.Old.Size())
	if len(hunks) == 0 { // the same, or binary
		head, tail := common(all(f.Old), all(f.New))
		kept = int64(head + tail)
	}
	for _, h := range hunks {
		for _, c := range h.Cores {
			kept -= int64(c.OldEnd - c.Old)
		}
	}
	return int(kept * 100 / longer)
}

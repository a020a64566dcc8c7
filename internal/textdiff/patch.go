package textdiff

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/millrace-go/millrace/change"
)

// The modes that a [FilePatch] knows, with the values git gives them. ModeAbsent means that there is no file.
const (
	ModeAbsent  uint32 = 0
	ModeFile    uint32 = 0o100644
	ModeExec    uint32 = 0o100755
	ModeSymlink uint32 = 0o120000
)

// sniffLen is how much of a file git looks at to tell whether it is binary.
const sniffLen = 8000

// IsBinary reports whether git takes one of the texts for binary: whether there is a NUL byte in its first 8000 bytes. The
// error is one that [Hunks] returns.
func IsBinary(old, new Source) (binary bool, err error) {
	defer stopped(&err)
	return texts{old: old, new: new}.binary(), nil
}

func (t texts) binary() bool {
	sniff := func(s Source) bool { return s.index(0, 0, min(s.Size(), sniffLen)) >= 0 }
	return sniff(t.old) || sniff(t.new)
}

// all returns the whole text.
func all(s Source) []byte { return s.slice(0, s.Size()) }

// typeMask selects the bits of a mode that tell a file from a symbolic link.
const typeMask uint32 = 0o170000

// FilePatch is the change of one file or symbolic link. A file that is created has OldMode [ModeAbsent], one that is
// deleted has NewMode [ModeAbsent]; the zero FilePatch is not valid. Copies are written as created files: git cannot take
// a patch that copies back.
//
// Where several changes meet at one path, git wants the section that takes the old file away, by deletion or by rename,
// before the one that puts another there. Renames may otherwise form chains and circles, in any order.
type FilePatch struct {
	// OldName and NewName are slash-separated paths relative to the root of the tree. They are equal unless Rename is
	// set; the one on a side where there is no file may be left empty.
	OldName, NewName string
	OldMode, NewMode uint32
	// Rename says that the file moved from OldName to NewName.
	Rename bool
	// Old and New are the bytes of the file before and after, or the target of a symbolic link. Nil stands for none.
	Old, New Source
	// Splices are what made New of Old, see [Hunks]. Nil means to look for where they differ.
	Splices []change.Splice
}

// PatchError says why a [FilePatch] cannot be written.
type PatchError struct {
	OldName, NewName string // of the patch
	Reason           string
}

// Error implements error.
func (e *PatchError) Error() string {
	name := e.NewName
	if name == "" {
		name = e.OldName
	}
	return fmt.Sprintf("patch of %q: %s", name, e.Reason)
}

// WriteTo writes the change as one section of a git patch, or as two where a file becomes a symbolic link or the other
// way round: git, too, deletes the one and creates the other. It writes nothing if nothing changes. Texts have
// [DefaultContext] lines of context; a file with a NUL byte near its beginning, see [IsBinary], is written as a binary
// patch that holds both versions, and names them by their SHA-1, as repositories of git's usual object format want it.
//
// It returns the number of bytes that w took. The error is a *[PatchError], or one that [Hunks] returns, before
// anything is written, or that of w.
func (f FilePatch) WriteTo(w io.Writer) (n int64, err error) {
	defer stopped(&err)
	if reason := f.invalid(); reason != "" {
		return 0, &PatchError{f.OldName, f.NewName, reason}
	}
	if f.Old == nil || f.OldMode == ModeAbsent {
		f.Old = Bytes(nil)
	}
	if f.New == nil || f.NewMode == ModeAbsent {
		f.New = Bytes(nil)
	}
	p := newPrinter(w)
	switch {
	case f.OldMode == ModeAbsent:
		f.OldName = f.NewName
		p.section(f)
	case f.NewMode == ModeAbsent:
		f.NewName = f.OldName
		p.section(f)
	case f.OldMode&typeMask != f.NewMode&typeMask:
		p.section(FilePatch{OldName: f.OldName, OldMode: f.OldMode, NewName: f.OldName, Old: f.Old, New: Bytes(nil)})
		p.section(FilePatch{OldName: f.NewName, NewMode: f.NewMode, NewName: f.NewName, Old: Bytes(nil), New: f.New})
	default:
		p.section(f)
	}
	return p.done()
}

// invalid returns what is wrong with the patch, or "".
func (f FilePatch) invalid() string {
	for _, m := range []uint32{f.OldMode, f.NewMode} {
		if m != ModeAbsent && m != ModeFile && m != ModeExec && m != ModeSymlink {
			return fmt.Sprintf("mode %o is none that git knows", m)
		}
	}
	hasOld, hasNew := f.OldMode != ModeAbsent, f.NewMode != ModeAbsent
	switch {
	case !hasOld && !hasNew:
		return "there is no file before nor after"
	case hasOld && !goodName(f.OldName):
		return fmt.Sprintf("old name %q is not a path within a tree", f.OldName)
	case hasNew && !goodName(f.NewName):
		return fmt.Sprintf("new name %q is not a path within a tree", f.NewName)
	case f.Rename && !(hasOld && hasNew):
		return "a rename needs a file before and after"
	case f.Rename && f.OldName == f.NewName:
		return "a rename needs two names"
	case !f.Rename && hasOld && hasNew && f.OldName != f.NewName:
		return fmt.Sprintf("old name %q differs, but it is no rename", f.OldName)
	}
	return ""
}

// goodName reports whether name is a relative path without "." and "..", that git and patch can take.
func goodName(name string) bool {
	for elem := range strings.SplitSeq(name, "/") {
		if elem == "" || elem == "." || elem == ".." {
			return false
		}
	}
	return !strings.Contains(name, "\x00")
}

// section writes the change of one file that keeps its type. Both names are set.
func (p *printer) section(f FilePatch) {
	created, deleted := f.OldMode == ModeAbsent, f.NewMode == ModeAbsent
	var hunks []Hunk
	t := texts{old: f.Old, new: f.New}
	binary := t.binary()
	if binary {
		binary = !bytes.Equal(all(f.Old), all(f.New))
	} else {
		hunks = t.hunks(f.Splices, DefaultContext)
	}
	changed := binary || len(hunks) > 0
	if !changed && !created && !deleted && !f.Rename && f.OldMode == f.NewMode {
		return
	}
	named := quote
	if len(hunks) == 0 {
		// Here git prints spaces as they are, and guesses; patch, which has no other line to read the name from, cannot.
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
	if f.Rename {
		p.print("similarity index ", percent(similarity(f, hunks)), "\n")
		p.print("rename from ", named(f.OldName), "\nrename to ", named(f.NewName), "\n")
	}
	switch {
	case binary, (created || deleted) && !changed, f.OldMode == ModeSymlink && f.NewMode == ModeSymlink:
		p.index(f)
	}
	switch {
	case binary:
		p.print("GIT binary patch\n")
		p.literal(all(f.New))
		p.literal(all(f.Old))
	case changed:
		if created {
			p.print("--- /dev/null\n")
		} else {
			p.fileLine("--- ", "a/"+f.OldName)
		}
		if deleted {
			p.print("+++ /dev/null\n")
		} else {
			p.fileLine("+++ ", "b/"+f.NewName)
		}
		p.hunks(hunks)
	}
}

func octal(mode uint32) string { return fmt.Sprintf("%06o", mode) }

func percent(n int) string { return fmt.Sprintf("%d%%", n) }

// similarity returns how many percent of the longer text are in both.
func similarity(f FilePatch, hunks []Hunk) int {
	longer := int64(max(f.Old.Size(), f.New.Size()))
	if longer == 0 {
		return 100
	}
	kept := int64(f.Old.Size())
	if len(hunks) == 0 { // the same, or binary
		old, new := all(f.Old), all(f.New)
		prefix := commonPrefix(old, new)
		kept = int64(prefix + commonSuffix(old[prefix:], new[prefix:]))
	}
	for _, h := range hunks {
		for _, c := range h.Cores {
			kept -= int64(c.OldEnd - c.Old)
		}
	}
	return int(kept * 100 / longer)
}

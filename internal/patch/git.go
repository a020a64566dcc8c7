package patch

import (
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/show"
	"github.com/millrace-go/millrace/wording"
)

// gitSection is a section of git during reading.
type gitSection struct {
	File
	old, now string // names with their first parts
	named    bool   // they are known
	from, to string // the names of a rename or a copy, to which git adds no first part
	strip    int
	ops      []Op // the operations in its lines
	lines    map[string]gitLine
}

// gitLine is a line of git about a file: its number, and the text after its first words.
type gitLine struct {
	at   int
	rest string
}

// once adds a problem if the section has the line already with another text. Git applies the last of these lines. A
// repeated line is harmless, and so are two similarity indexes, which change nothing.
func (f *gitSection) once(p *parser, word, rest string) {
	first, twice := f.lines[word]
	switch {
	case strings.HasSuffix(word, "similarity index"):
	case !twice:
		if f.lines == nil {
			f.lines = map[string]gitLine{}
		}
		f.lines[word] = gitLine{p.n, rest}
	case first.rest != rest:
		p.problem(p.n, "keep one of the two lines",
			`this line disagrees with the "`+word+`" in line `+strconv.Itoa(first.at))
	}
}

// op records the operation of a line on the file.
func (f *gitSection) op(op Op) {
	f.Op = op
	if !slices.Contains(f.ops, op) {
		f.ops = append(f.ops, op)
	}
}

// git reads a file section after a line of git, with all lines of git about the file.
func (p *parser) git() {
	f := gitSection{File: File{Line: p.n}, strip: p.opt.Strip}
	line, _ := p.peek()
	both := strings.TrimPrefix(line, "diff --git ")
	if f.strip < 0 {
		f.strip = 0 // equal names prove that git ran with the option for no prefix
		if f.old, f.now, f.named = gitNames(both, 0); !f.named || f.old != f.now {
			f.strip, f.named = 1, false
		}
	}
	if !f.named {
		f.old, f.now, f.named = gitNames(both, f.strip)
	}
	p.next()
	hunks := false
	for line, ok := p.peek(); ok && !hunks; line, ok = p.peek() {
		line = strings.TrimSuffix(line, "\r")
		word, rest := cutWord(line)
		at := p.n
		if word != "" {
			f.once(p, word, rest)
		}
		switch {
		case p.isFileHeader():
			if !p.gitLines(&f) {
				p.skip()
				return
			}
			hunks = true
			continue
		case isHunkHead(line):
			hunks = true
			continue
		case line == "GIT binary patch":
			f.Binary = p.binary()
			if again, _ := p.peek(); strings.TrimSuffix(again, "\r") == line {
				p.problem(p.n, "", "a section has one binary patch; this is its second")
			}
			hunks = true
			continue
		case isBinaryNote(line):
			p.problem(at, withBinary, "the patch does not have the bytes of the binary file that it changes")
		case word == "old mode":
			f.OldMode = p.mode(rest)
		case word == "new mode":
			f.NewMode = p.mode(rest)
		case word == "new file mode":
			f.op(Create)
			f.NewMode = p.mode(rest)
		case word == "deleted file mode":
			f.op(Delete)
			f.OldMode = p.mode(rest)
		case word == "rename from", word == "rename old":
			f.op(Rename)
			f.from = p.gitName(rest)
		case word == "rename to", word == "rename new":
			f.op(Rename)
			f.to = p.gitName(rest)
		case word == "copy from":
			f.op(Copy)
			f.from = p.gitName(rest)
		case word == "copy to":
			f.op(Copy)
			f.to = p.gitName(rest)
		case word == "similarity index", word == "dissimilarity index":
		case word == "index":
			f.index(p, rest)
		default:
			p.finish(f)
			return
		}
		p.next()
	}
	if f.Binary == nil {
		p.readHunks(&f.File)
	}
	p.finish(f)
}

// gitLines reads the lines "---" and "+++" of a section, which must name its file. It reports whether they are
// readable.
func (p *parser) gitLines(f *gitSection) bool {
	a, oldGone, ok1 := p.fileLine("--- ", stamped)
	b, newGone, ok2 := p.fileLine("+++ ", stamped)
	if !ok1 || !ok2 {
		return false
	}
	same := func(name, line, plain string) bool {
		got, ok1 := stripped(name, f.strip)
		want, ok2 := stripped(line, f.strip)
		if plain != "" {
			want, ok2 = stripped(plain, max(f.strip-1, 0))
		}
		return got == want || plain != "" && p.opt.Strip < 0 && name == plain || !ok1 || !ok2
	}
	known := f.named && (oldGone || newGone || same(a, b, "")) || f.from != ""
	wrong := known && (!oldGone && !same(a, f.old, f.from) || !newGone && !same(b, f.now, f.to)) ||
		slices.Contains(f.ops, Create) && !oldGone || slices.Contains(f.ops, Delete) && !newGone || oldGone && newGone
	if wrong {
		p.problem(f.Line, "write the same names in all its lines, or one section for each file",
			"the lines of this section disagree on which file it is about")
		return false
	}
	if oldGone {
		f.op(Create)
		a = b
	}
	if newGone {
		f.op(Delete)
		b = a
	}
	f.old, f.now, f.named = a, b, true
	return true
}

// cutWord returns the words at the beginning of a line of git, and the rest.
func cutWord(line string) (word, rest string) {
	for _, word := range [...]string{"old mode", "new mode", "new file mode", "deleted file mode", "rename from",
		"rename to", "rename old", "rename new", "copy from", "copy to", "similarity index", "dissimilarity index",
		"index"} {
		if rest, ok := strings.CutPrefix(line, word+" "); ok {
			return word, rest
		}
	}
	return "", line
}

// finish adds a file after all lines of git about it are read.
func (p *parser) finish(f gitSection) {
	moves := f.Op == Rename || f.Op == Copy
	switch plain := max(f.strip-1, 0); {
	case len(f.ops) > 1:
		p.problem(f.Line, "write one section for each",
			"the lines of this section disagree on what is done to the file")
		return
	case moves && (f.from == "" || f.to == ""):
		p.problem(f.Line, "", "only one of the names of a rename or a copy is there")
		return
	case moves:
		f.Unstripped = f.from
		f.Old, f.New = p.strip(f.Line, f.from, plain), p.strip(f.Line, f.to, plain)
	case !f.named || f.old == "" || f.now == "":
		p.advise(f.Line, "the names in this line cannot be told apart", "",
			wording.Part{Kind: kinds.SetStrip, Text: "set strip"}, ", or write --- and +++")
		return
	default:
		if f.Op == Delete {
			f.now = f.old
		}
		f.Unstripped = f.now
		f.New = p.strip(f.Line, f.now, f.strip)
		f.Old = f.New
		if a, ok := stripped(f.old, f.strip); f.Op == Modify && ok && a != f.New {
			p.problem(f.Line, "write rename from and rename to", "the names differ, but the file is not renamed: "+
				show.Quote(a, maxShown)+" and "+show.Quote(f.New, maxShown))
		}
	}
	if f.OldMode != 0 && f.NewMode != 0 && f.OldMode&TypeMask != f.NewMode&TypeMask {
		p.problem(f.Line, "write a section that deletes, and a section that creates",
			"a file does not change its type by a mode")
	}
	if f.Op == Modify && len(f.Hunks) == 0 && f.Binary == nil && f.NewMode == 0 && len(p.problems) == 0 {
		p.warn(f.Line, "nothing is done to "+show.Quote(f.New, maxShown))
	}
	p.add(f.File)
}

// gitName reads a name, quoted or not.
func (p *parser) gitName(text string) string {
	if strings.HasPrefix(text, `"`) {
		name, _, wrong := unquote(text)
		if wrong != "" {
			p.problem(p.n, "", wrong)
		}
		return name
	}
	if strings.IndexByte(text, 0) >= 0 {
		p.problem(p.n, "", "a NUL byte is in the name of the file")
	}
	return text
}

// mode reads the mode of a file. Submodules are not supported.
func (p *parser) mode(text string) uint32 {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 8, 32)
	mode := uint32(n)
	switch {
	case err == nil && mode == 0o160000:
		p.problem(p.n, "leave it out", "submodules cannot be patched")
	case err != nil || mode&TypeMask != File100 && mode != Symlink:
		p.problem(p.n, "write 100644, 100755 or 120000", "unknown mode "+show.Quote(text, maxShown))
	}
	return mode
}

// index reads the names of the contents, and the mode if it does not change.
func (f *File) index(p *parser, text string) {
	ids, mode, ok := strings.Cut(strings.TrimSpace(text), " ")
	if ok && f.OldMode == 0 && f.NewMode == 0 {
		f.OldMode = p.mode(mode)
		f.NewMode = f.OldMode
	}
	f.OldID, f.NewID, _ = strings.Cut(ids, "..")
}

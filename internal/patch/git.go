package patch

import (
	"strconv"
	"strings"
)

// git reads a file behind a line of git, with all that git says of it.
func (p *parser) git() {
	f := File{Line: p.n}
	strip := max(p.opt.Strip, 0)
	if p.opt.Strip < 0 {
		strip = 1
	}
	line, _ := p.peek()
	old, now, named := gitNames(strings.TrimPrefix(line, "diff --git "), strip)
	p.next()
	var from, to string // of a rename or a copy, which have no first part that git has put there
	hunks := false
	for line, ok := p.peek(); ok && !hunks; line, ok = p.peek() {
		line = strings.TrimSuffix(line, "\r")
		word, rest := cutWord(line)
		at := p.n
		switch {
		case p.isFileHeader():
			if p.otherFile(old, now, from, to, named, strip) {
				p.finish(f, old, now, from, to, named, strip)
				return
			}
			a, oldGone, ok1 := p.fileLine("--- ")
			b, newGone, ok2 := p.fileLine("+++ ")
			if !ok1 || !ok2 {
				p.skip()
				return
			}
			if oldGone {
				f.Op, a = Create, b
			}
			if newGone {
				f.Op, b = Delete, a
			}
			old, now, named = a, b, true
			hunks = true
			continue
		case isHunkHead(line):
			hunks = true
			continue
		case line == "GIT binary patch":
			f.Binary = p.binary()
			hunks = true
			continue
		case isBinaryNote(line):
			p.problem(at, withBinary, "the patch does not have the bytes of the binary file that it changes")
		case word == "old mode":
			f.OldMode = p.mode(rest)
		case word == "new mode":
			f.NewMode = p.mode(rest)
		case word == "new file mode":
			f.Op, f.NewMode = Create, p.mode(rest)
		case word == "deleted file mode":
			f.Op, f.OldMode = Delete, p.mode(rest)
		case word == "rename from", word == "rename old":
			f.Op, from = Rename, p.gitName(rest)
		case word == "rename to", word == "rename new":
			f.Op, to = Rename, p.gitName(rest)
		case word == "copy from":
			f.Op, from = Copy, p.gitName(rest)
		case word == "copy to":
			f.Op, to = Copy, p.gitName(rest)
		case word == "similarity index", word == "dissimilarity index":
		case word == "index":
			f.index(p, rest)
		default:
			p.finish(f, old, now, from, to, named, strip)
			return
		}
		p.next()
	}
	if f.Binary == nil {
		p.readHunks(&f)
	}
	p.finish(f, old, now, from, to, named, strip)
}

// otherFile reports whether the lines "---" and "+++" that come now are not about the file of the section, but begin
// another one, which is not git's.
func (p *parser) otherFile(old, now, from, to string, named bool, strip int) bool {
	here, problems := p.scanner, p.problems
	a, oldGone, ok1 := p.fileLine("--- ")
	b, newGone, ok2 := p.fileLine("+++ ")
	p.scanner, p.problems = here, problems
	same := func(name, line, plain string) bool {
		got, ok1 := stripped(name, strip)
		want, ok2 := stripped(line, strip)
		if plain != "" {
			want, ok2 = stripped(plain, max(strip-1, 0))
		}
		return got == want || !ok1 || !ok2
	}
	if !ok1 || !ok2 || !named && from == "" {
		return false
	}
	return (oldGone || !same(a, old, from)) && (newGone || !same(b, now, to))
}

// cutWord returns the words that a line of git begins with, and what follows.
func cutWord(line string) (word, rest string) {
	for _, word := range [...]string{"old mode", "new mode", "new file mode", "deleted file mode", "rename from",
		"rename to", "rename old", "rename new", "copy from", "copy to", "similarity index", "dissimilarity index", "index"} {
		if rest, ok := strings.CutPrefix(line, word+" "); ok {
			return word, rest
		}
	}
	return "", line
}

// finish adds a file when all is read that git says of it.
func (p *parser) finish(f File, old, now, from, to string, named bool, strip int) {
	switch {
	case (f.Op == Rename || f.Op == Copy) && (from == "" || to == ""):
		p.problem(f.Line, "", "only one of the names of a rename or a copy is there")
		return
	case f.Op == Rename || f.Op == Copy:
		f.Unstripped = from
		f.Old, f.New = p.strip(f.Line, from, max(strip-1, 0)), p.strip(f.Line, to, max(strip-1, 0))
	case !named || old == "" || now == "":
		p.problem(f.Line, "set strip, or write --- and +++", "the names in this line cannot be told apart")
		return
	default:
		if f.Op == Delete {
			now = old
		}
		f.Unstripped = now
		f.New = p.strip(f.Line, now, strip)
		f.Old = f.New
		if a, ok := stripped(old, strip); f.Op == Modify && ok && a != f.New {
			p.problem(f.Line, "write rename from and rename to", "the names differ, but the file is not renamed: "+
				quoted(a)+" and "+quoted(f.New))
		}
	}
	if f.OldMode != 0 && f.NewMode != 0 && f.OldMode&TypeMask != f.NewMode&TypeMask {
		p.problem(f.Line, "write one section that deletes, and one that creates", "a file does not change its type by a mode")
	}
	if f.Op == Modify && len(f.Hunks) == 0 && f.Binary == nil && f.NewMode == 0 && len(p.problems) == 0 {
		p.warn(f.Line, "nothing is done to "+quoted(f.New))
	}
	p.add(f)
}

// gitName returns a name, quoted or not.
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

// mode reads the mode of a file. Of what git knows, submodules are left.
func (p *parser) mode(text string) uint32 {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 8, 32)
	mode := uint32(n)
	switch {
	case err == nil && mode == 0o160000:
		p.problem(p.n, "leave it out", "submodules cannot be patched")
	case err != nil || mode&TypeMask != File100 && mode != Symlink:
		p.problem(p.n, "write 100644, 100755 or 120000", "unknown mode "+quoted(text))
	}
	return mode
}

// index reads the names of the contents, and the mode where that stays.
func (f *File) index(p *parser, text string) {
	ids, mode, ok := strings.Cut(strings.TrimSpace(text), " ")
	if ok && f.OldMode == 0 && f.NewMode == 0 {
		f.OldMode = p.mode(mode)
		f.NewMode = f.OldMode
	}
	f.OldID, f.NewID, _ = strings.Cut(ids, "..")
}

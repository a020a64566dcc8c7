package patch

import "strings"

// The lines of the format apply_patch.
const (
	beginPatch = "*** Begin Patch"
	endPatch   = "*** End Patch"
	endOfFile  = "*** End of File"
	addFile    = "*** Add File:"
	deleteFile = "*** Delete File:"
	updateFile = "*** Update File:"
	moveTo     = "*** Move to:"
)

// envelopes reads patches between their first and last lines. Text outside is skipped.
func (p *parser) envelopes() {
	found := false
	for line, ok := p.peek(); ok; line, ok = p.peek() {
		at := p.n
		p.next()
		if strings.TrimSpace(line) != beginPatch {
			continue
		}
		found = true
		if !p.envelope() && p.err == nil {
			p.problem(at, "write all of it", "the patch has no line "+endPatch)
		}
	}
	if !found {
		p.problem(0, "", "there is no line "+beginPatch)
	}
}

// envelope reads the sections of one patch. It reports whether it has reached the end line.
func (p *parser) envelope() bool {
	for line, ok := p.peek(); ok; line, ok = p.peek() {
		at := p.n
		line = strings.TrimSpace(line)
		p.next()
		switch {
		case line == "":
		case line == endPatch:
			return true
		case strings.HasPrefix(line, addFile):
			f := File{Line: at, Op: Create, New: p.envelopeName(at, line, addFile)}
			f.Old = f.New
			p.added(&f)
			p.add(f)
		case strings.HasPrefix(line, deleteFile):
			f := File{Line: at, Op: Delete, Old: p.envelopeName(at, line, deleteFile), Unchecked: true}
			f.New = f.Old
			p.add(f)
		case strings.HasPrefix(line, updateFile):
			f := File{Line: at, Old: p.envelopeName(at, line, updateFile)}
			f.New = f.Old
			if next, _ := p.peek(); strings.HasPrefix(strings.TrimSpace(next), moveTo) {
				f.Op, f.New = Rename, p.envelopeName(p.n, strings.TrimSpace(next), moveTo)
				if f.New == f.Old {
					f.Op = Modify
				}
				p.next()
			}
			before := len(p.problems)
			p.updated(&f)
			if len(f.Hunks) == 0 && f.Op != Rename && len(p.problems) == before {
				p.problem(at, "", "no hunk follows the name of the file")
			}
			p.add(f)
		default:
			p.problem(at, "begin it with *** Add File, *** Delete File or *** Update File", "this line begins no file")
			p.nextMark()
		}
	}
	return false
}

func (p *parser) envelopeName(at int, line, mark string) string {
	name := strings.TrimSpace(strings.TrimPrefix(line, mark))
	if name == "" {
		p.problem(at, "", "the name of the file is missing")
	}
	if strings.IndexByte(name, 0) >= 0 {
		p.problem(at, "", "a NUL byte is in the name of the file")
	}
	rest := p.strip(at, name, max(p.opt.Strip, 0))
	return rest
}

// isLastMark reports whether a line with blanks before it ends the patch. Elsewhere such a line is a quoted line of the
// file.
func (p *parser) isLastMark(line string) bool {
	return strings.TrimSpace(line) == endPatch && p.pos+len(line) >= p.last
}

// nextMark moves to the next line that begins with three stars.
func (p *parser) nextMark() {
	for line, ok := p.peek(); ok && !strings.HasPrefix(line, "*** "); line, ok = p.peek() {
		p.next()
	}
}

// added reads the lines of a new file.
func (p *parser) added(f *File) {
	h := Hunk{Line: p.n}
	begin, end := p.pos, p.pos
	for line, ok := p.peek(); ok && !strings.HasPrefix(line, "*** ") && !p.isLastMark(line); line, ok = p.peek() {
		switch {
		case trimEnd(line) == "": // perhaps between two files
		case line[0] != '+' || end != p.pos:
			at := p.n
			if line[0] == '+' {
				at-- // the empty line above
			}
			p.problem(at, "", "lines of a new file begin with +, also empty ones")
			p.nextMark()
			return
		default:
			p.next()
			end = p.pos
			continue
		}
		p.next()
	}
	if h.body = p.text[begin:end]; h.body != "" {
		p.addHunk(f, h)
	}
}

// updated reads the hunks of a file.
func (p *parser) updated(f *File) {
	h := Hunk{Line: p.n}
	begin, end := p.pos, p.pos // of the lines; end is after the last line that is not empty
	flush := func() {
		if h.body = p.text[begin:end]; h.body != "" || len(h.Anchors) > 0 && h.AtEnd {
			p.addHunk(f, h)
		} else if len(h.Anchors) > 0 {
			p.problem(h.Line, "", "no lines follow @@")
		}
	}
	for line, ok := p.peek(); ok; line, ok = p.peek() {
		at := p.n
		mark := trimEnd(line)
		switch {
		case mark == endOfFile:
			h.AtEnd = true
			flush()
			p.next()
			h, begin, end = Hunk{Line: p.n}, p.pos, p.pos
			continue
		case strings.HasPrefix(line, "*** "), p.isLastMark(line):
			flush()
			return
		case isHunkHead(line):
			if end > begin {
				flush()
				h = Hunk{Line: at}
			}
			if text := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(mark, "@@"), " "), " @@"); text != "" {
				if _, numbers := hunkNumbers(mark); !numbers {
					h.Anchors = append(h.Anchors, text)
				}
			}
			p.next()
			begin, end = p.pos, p.pos
			continue
		case mark == "":
		case line[0] == ' ' || line[0] == '+' || line[0] == '-' || line[0] == '\\':
			p.next()
			end = p.pos
			continue
		default:
			p.problem(at, "", "lines of a hunk begin with a space, + or -, and this one does not")
			p.nextMark()
			return
		}
		p.next()
	}
	flush()
}

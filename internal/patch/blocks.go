package patch

import (
	"strings"

	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/show"
	"github.com/millrace-go/millrace/internal/textdiff"
	"github.com/millrace-go/millrace/wording"
)

// isMarker reports whether a line is a run of five to nine of one marker character, followed by a word if word is set.
func isMarker(line, chars, word string) bool {
	line = trimEnd(line)
	if line == "" || strings.IndexByte(chars, line[0]) < 0 {
		return false
	}
	rest := strings.TrimLeft(line, line[:1])
	if n := len(line) - len(rest); n < 5 || n > 9 {
		return false
	}
	if word == "" {
		return rest == ""
	}
	return rest == " "+word
}

// block is a search text and its replacement.
type block struct {
	line        int
	search, new string
}

// blocks reads searches with their replacements.
func (p *parser) blocks() {
	name, fresh := p.opt.Path, "" // the name of the block before, and a line that may be a name
	named := name != ""
	for line, ok := p.peek(); ok; line, ok = p.peek() {
		at := p.n
		p.next()
		if !isMarker(line, "<-", "SEARCH") {
			if text := strings.TrimSpace(line); text != "" && !isFence(text) {
				fresh = text
			}
			continue
		}
		if fresh != "" {
			switch now, ok := blockName(fresh); {
			case ok:
				name, named = now, true
			case p.opt.Path == "" && !isEllipsis(fresh):
				p.problem(at, "write the name of the file in the line above, in backquotes if it has blanks",
					"the line above the block is not the name of a file: "+show.Quote(fresh, maxShown))
				named, name = true, "" // it is reported only once
			}
			fresh = ""
		}
		b, ok := p.block(at)
		if !ok {
			continue
		}
		if !named {
			p.advise(at, "the block names no file", "write the name of the file in the line above", orPath, "")
		}
		if strings.IndexByte(name, 0) >= 0 {
			p.problem(at, "", "a NUL byte is in the name of the file")
		}
		f := File{Line: at, Unstripped: name}
		f.New = p.strip(at, name, max(p.opt.Strip, 0))
		f.Old = f.New
		if b.search == "" {
			f.Op, f.MayBeNew = Create, true
		}
		if body := b.body(); body != "" {
			p.addHunk(&f, Hunk{Line: b.line, body: body})
		}
		p.add(f)
	}
}

// blockName returns the name of a file in a line above a block: the whole line without signs of Markdown. A name with
// blanks must be quoted, so that a sentence is not a name.
func blockName(line string) (name string, ok bool) {
	name = strings.Trim(line, "#*: \t")
	if n := len(name); n > 2 && strings.IndexByte("`\"'", name[0]) >= 0 && name[n-1] == name[0] {
		name = strings.Trim(name, name[:1])
		return name, name != "" && !strings.ContainsAny(name, "`")
	}
	name = strings.Trim(name, "`")
	return name, name != "" && !strings.ContainsAny(name, " \t") && !isEllipsis(name)
}

// isEllipsis reports whether a line means omitted text.
func isEllipsis(line string) bool {
	return (strings.Contains(line, "...") || strings.Contains(line, "…")) && strings.Trim(line, ".… \t") == ""
}

func isFence(text string) bool {
	return strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~")
}

// block reads a block from the line after its first. ok is false if it is not complete.
func (p *parser) block(at int) (b block, ok bool) {
	begin, divider := p.pos, 0
	b.line = at
	for line, more := p.peek(); more; line, more = p.peek() {
		switch {
		case isMarker(line, "=", "") && divider == 0:
			b.search, divider = p.text[begin:p.pos], p.n
			begin = p.pos + len(line) + 1
		case isMarker(line, "=", ""):
			p.advise(p.n, "this block has a second =======", "",
				wording.Part{Kind: kinds.OtherForm, Text: "use edit_files"}, " for text that has such lines")
			p.endOfBlock()
			return b, false
		case isMarker(line, "<-", "SEARCH"):
			p.problem(at, "", "this block has no >>>>>>> REPLACE")
			return b, false
		case isMarker(line, ">+", "REPLACE"):
			if divider == 0 {
				p.problem(at, "", "this block has no =======")
				p.next()
				return b, false
			}
			b.new = p.text[begin:p.pos]
			p.next()
			return b, true
		}
		p.next()
	}
	p.problem(at, "write all of it", "this block has no >>>>>>> REPLACE")
	return b, false
}

// endOfBlock moves to the line after a wrong block, or to the next block.
func (p *parser) endOfBlock() {
	for line, ok := p.peek(); ok && !isMarker(line, "<-", "SEARCH"); line, ok = p.peek() {
		p.next()
		if isMarker(line, ">+", "REPLACE") {
			return
		}
	}
}

// comparedLines is the largest number of lines of a block in which unchanged lines are searched.
const comparedLines = 100_000

// body returns the block as the lines of a hunk, with its unchanged lines as context.
func (b block) body() string {
	old, now := []byte(b.search), []byte(b.new)
	if strings.Count(b.search, "\n")+strings.Count(b.new, "\n") > comparedLines {
		var out strings.Builder
		out.Grow(2 * (len(old) + len(now)))
		for line := range strings.Lines(b.search) {
			out.WriteString("-" + line)
		}
		for line := range strings.Lines(b.new) {
			out.WriteString("+" + line)
		}
		return out.String()
	}
	hunks, _ := textdiff.Hunks(textdiff.Bytes(old), textdiff.Bytes(now), nil,
		len(old)+len(now)) // bytes have no errors
	var out strings.Builder
	out.Grow(len(old) + len(now) + 64)
	write := func(op byte, text string) {
		out.WriteByte(op)
		out.WriteString(text)
	}
	for _, h := range hunks {
		for _, l := range h.Lines {
			write(l.Op, string(l.Text))
		}
	}
	if len(hunks) == 0 {
		for line := range strings.Lines(b.search) {
			write(' ', line)
		}
	}
	return out.String()
}

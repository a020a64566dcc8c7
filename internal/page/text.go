package page

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/millrace-go/millrace/fsutil"
)

// Text writes a text of others. Tabs stay; what cannot be seen is escaped, and set apart from a text that looks alike.
func (p *Page) Text(s string) {
	for s != "" {
		at := strings.IndexByte(s, '\t')
		if at < 0 {
			at = len(s)
		}
		p.visible(s[:at])
		if s = s[at:]; s != "" {
			p.WriteByte('\t')
			s = s[1:]
		}
	}
}

func (p *Page) visible(s string) {
	if fsutil.Visible(s) == s && !hasNonCharacter(s) {
		p.WriteString(html.EscapeString(s))
		return
	}
	seen, escapes := 0, "" // where the text begins that is not written yet, and the escapes after it
	flush := func(at int) {
		p.WriteString(html.EscapeString(s[seen:at]))
	}
	end := func() {
		if escapes != "" {
			p.WriteString(`<i>` + html.EscapeString(escapes) + `</i>`)
			escapes = ""
		}
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		one := s[i : i+size]
		shown := fsutil.Visible(one)
		if isNonCharacter(r) {
			shown = strings.Trim(strconv.QuoteRuneToASCII(r), "'")
		}
		if shown == one {
			end()
		} else {
			flush(i)
			escapes += shown
			seen = i + size
		}
		i += size
	}
	end()
	flush(len(s))
}

// isNonCharacter reports whether Unicode keeps a code point free of characters. HTML and XML forbid them.
func isNonCharacter(r rune) bool { return r&0xfffe == 0xfffe || r >= 0xfdd0 && r <= 0xfdef }

func hasNonCharacter(s string) bool { return strings.IndexFunc(s, isNonCharacter) >= 0 }

// longestText is how many bytes of a message are shown.
const longestText = 2000

// Message writes a text that may be long.
func (p *Page) Message(s string) {
	if len(s) <= longestText {
		p.Text(s)
		return
	}
	cut := longestText
	for cut > longestText-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
		cut--
	}
	p.Text(s[:cut])
	p.WriteString(" …")
}

// Name writes a path so that its text direction does not change the text around it.
func (p *Page) Name(path string) {
	p.WriteString(`<bdi>`)
	p.Text(path)
	p.WriteString(`</bdi>`)
}

// marked writes the text of a line with its colours and the ranges of it that were changed.
func (p *Page) marked(text string, l line) {
	done := 0
	for _, m := range l.Marks {
		from, to := min(max(m[0], done), len(text)), min(m[1], len(text))
		if from >= to {
			continue
		}
		p.spans(text, done, from, l.spans)
		p.WriteString(`<mark>`)
		p.spans(text, from, to, l.spans)
		p.WriteString(`</mark>`)
		done = to
	}
	p.spans(text, done, len(text), l.spans)
}

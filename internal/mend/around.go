package mend

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"github.com/millrace-go/millrace/internal/strictjson"
)

const (
	doneProse    = "the text around the JSON was left out"
	adviceProse  = "send the JSON object alone, without text around it"
	doneComments = "comments were left out"
)

const fence = "```"

func (s *scanner) before(head []byte) {
	at := 0
	if rest, ok := bytes.CutPrefix(head, []byte("\ufeff")); ok {
		s.note(0, "the byte order mark was left out", "save the text as UTF-8 without a byte order mark")
		at, head = len(head)-len(rest), rest
	}
	if bytes.HasSuffix(bytes.TrimSpace(head), []byte("[")) || bytes.HasSuffix(bytes.TrimSpace(head), []byte(",")) {
		s.stuck = true // the object is part of a larger value
		return
	}
	s.outside(at, head)
	if i := bytes.LastIndex(head, []byte(fence)); i >= 0 && bytes.Count(head, []byte(fence))%2 == 1 {
		s.fenced = true
		s.note(at+i, "the code fence around the JSON was left out", "take the JSON out of the code fence")
		before := bytes.TrimSpace(head[:i])
		kind := bytes.TrimSpace(head[i+len(fence):])
		if len(before) == 0 && len(bytes.Fields(kind)) <= 1 {
			head = nil
		}
	}
	if len(bytes.TrimSpace(head)) > 0 {
		s.note(at, doneProse, adviceProse)
	}
	s.done = s.pos
}

func (s *scanner) behind() {
	end := s.pos
	s.copyTo(end)
	s.space()
	if s.stuck && s.err != nil {
		return
	}
	s.outside(end, s.in[end:s.pos]) // the comments
	tail := s.in[s.pos:]
	if n := len(tail) - len(bytes.TrimLeft(tail, "}] \t\r\n")); n > 0 && bytes.ContainsAny(tail[:n], "}]") {
		s.note(s.pos, "closing brackets too many at the end were left out",
			"leave out the closing brackets that are too many at the end")
		s.pos += n
		tail = tail[n:]
	}
	if len(tail) == 0 {
		s.done = len(s.in)
		return
	}
	if s.outside(s.pos, tail); tail[0] == ',' {
		s.refuse(s.pos,
			"the text goes on with a comma behind the object: put what follows inside, and send the object alone")
	}
	if s.err != nil {
		return
	}
	if s.fenced {
		if rest, ok := bytes.CutPrefix(bytes.TrimSpace(tail), []byte(fence)); ok {
			tail = rest
		}
	}
	if len(bytes.TrimSpace(tail)) > 0 {
		s.note(s.pos, doneProse, adviceProse)
	}
	s.done = len(s.in)
}

// outside refuses text around the object that could describe a pipeline: the omitted text must not have another object
// or a field.
func (s *scanner) outside(at int, text []byte) {
	for i, c := range text {
		if c != '{' && c != '"' && c != '\'' {
			continue
		}
		rest := bytes.TrimLeft(text[i+1:], " \t\r\n")
		switch {
		case len(rest) == 0:
		case c == '{' && beginsObject(rest):
			s.refuse(at+i, "there are two objects in the text: send one pipeline and nothing else")
			return
		case c != '{' && rest[0] == ':':
			s.refuse(at+i, "there is a field outside of the JSON object: put it inside, and send the object alone")
			return
		}
	}
	if option := Setting(string(text)); option != "" {
		s.refuse(at, "the text around the JSON names %s: put the option into the object, or leave the text out", option)
	}
}

// beginsObject reports whether the text after a brace begins an object, and not prose or a placeholder such as {name}.
func beginsObject(rest []byte) bool {
	for _, begin := range []string{"\"", "'", "}", "\\", "“", "”", "„", "‘", "’", "//", "/*", "#"} {
		if bytes.HasPrefix(rest, []byte(begin)) {
			return true
		}
	}
	n := nameLen(rest)
	return n > 0 && bytes.HasPrefix(bytes.TrimLeft(rest[n:], " \t\r\n"), []byte(":"))
}

// Setting returns the option that a text names or sets, as in "dry run", "--no-backup" or "max steps: 3", or "" if
// not found. A text can set an option without a colon and a value: "set dry_run to true" is prose too.
func Setting(text string) string {
	if name := named().FindString(text); name != "" {
		return name
	}
	separators := strings.NewReplacer("_", "", "-", "", " ", "", "*", "", "`", "", "\"", "", "'", "")
	m := options().FindStringSubmatch(separators.Replace(strings.ToLower(text)) + "\n")
	if m == nil {
		return ""
	}
	return m[1] + m[2] + m[3]
}

// named finds options that are recognised by name alone: a dry run in any words, and others as identifiers, which do
// not occur in prose.
var named = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?:(?i:\\b|_)[Dd][Rr][Yy]|[a-z]+Dry)[-_\\s*`\"'\u00a0\u2010\u2011\u2013]*(?i:run)|" +
		`(?i:stop[-_]?on[-_]?error|create[-_]?backups?|(?:\b|_)no[-_]?backups?)`)
})

// options finds options that are set, in a text without separators between words. For some options, a colon alone is
// not enough.
var options = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(stoponerror|createbackup|maxsteps|deadlineseconds|(?:min|max)(?:files|edits))[:=>]|` +
		`(budget|deadline)[:=][$]?[{0-9]|` +
		`(preview|previewonly|dry|simulate|whatif|testrun|nowrite|failfast|backups?|manual|parallel)[:=](?:true|yes|(?:on|1)\n)`)
})

// escapedQuote matches the text after the first brace of an object that is escaped as in a string: {\"name\": 1}.
var escapedQuote = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[ \t\r\n]|\\[ntr])*\\"`) })

// unescape resolves the escapes of the object that begins at start, and leaves the text around it unchanged.
func unescape(data []byte, start int) (*Mended, error) {
	s := &scanner{in: data}
	end := bytes.LastIndexByte(data, '}') + 1
	s.note(start, "the text, which was escaped once too often, was unescaped",
		`send the JSON itself: names begin with ", not with \"`)
	s.copyTo(start - 1)
	if start > 0 && data[start-1] == '"' {
		s.put("", start)
	}
	s.copyTo(start)
	for i := start; i < end; i++ {
		switch data[i] {
		case '"':
			s.refuse(i,
				"some quotes have a backslash before them and some have not: escape none but those within strings")
			return nil, s.err
		case '\\':
			n, plain := unescapeOne(data[i:end])
			s.replace(i, i+n, plain)
			i += n - 1
		}
	}
	s.copyTo(end)
	// A quote that closes the whole text is not text around the object.
	s.done += len(data[end:]) - len(bytes.TrimPrefix(data[end:], []byte(`"`)))
	s.copyTo(len(data))
	return s.mended(), nil
}

// unescapeOne resolves the escape of n bytes at the beginning of text. Text that is not an escape stays.
func unescapeOne(text []byte) (n int, plain string) {
	n = min(2, len(text))
	if n == 2 && text[1] == 'u' {
		n = min(6, len(text))
		if len(text) >= 12 && text[6] == '\\' && text[7] == 'u' {
			if node, err := strictjson.Parse([]byte(`"`+string(text[:12])+`"`), strictjson.Limits{}); err == nil {
				return 12, node.Text // both halves of a pair
			}
		}
	}
	node, err := strictjson.Parse([]byte(`"`+string(text[:n])+`"`), strictjson.Limits{})
	if err != nil {
		return 1, string(text[:1])
	}
	return n, node.Text
}

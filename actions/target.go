package actions

import (
	"path"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// targetName is a parsed parameter "to": text and, at odd indices, the names of parts of the source's name. The part
// {{{{}} is an escaped {{. In the values of templates, each {{ is escaped in this way.
type targetName []string

// targetParts lists the parts for messages.
const targetParts = "{{dir}}, {{stem}}, {{ext}} and {{name}}"

// paramTo is the name of the parameter in messages.
var paramTo = wording.Part{Kind: kinds.Param, Text: "'to'", Value: "to"}

func parseTarget(to string) (targetName, error) {
	var t targetName
	for rest := to; ; {
		text, after, found := strings.Cut(rest, "{{")
		t = append(t, text)
		if !found {
			break
		}
		part, tail, closed := strings.Cut(after, "}}")
		if !closed {
			return t, worded.Errorf("%v has {{ without }}", paramTo)
		}
		part = strings.TrimSpace(part)
		if !slices.Contains([]string{"dir", "stem", "ext", "name", "{{"}, part) {
			return t, worded.Errorf("%v has the unknown part {{%s}}; there are %s", paramTo, part, targetParts)
		}
		t = append(t, part)
		rest = tail
	}
	if strings.HasSuffix(to, "/") {
		return t, worded.Errorf("%v names a file and cannot end in a slash; use destination for a directory", paramTo)
	}
	return t, nil
}

// maxTarget is the length, in bytes, of the longest name that may be built from parts: the systems' limit for a path.
const maxTarget = 4096

// expand returns the name for a source, not cleaned.
func (t targetName) expand(source string) (string, error) {
	base := path.Base(source)
	ext := path.Ext(base)
	if ext == base {
		ext = "" // the dot of a hidden file begins its stem
	}
	parts := map[string]string{
		"dir": path.Dir(source), "stem": strings.TrimSuffix(base, ext), "ext": ext, "name": base, "{{": "{{",
	}
	var b strings.Builder
	for i, piece := range t {
		if b.Len() > maxTarget {
			return "", worded.Errorf("%v makes a name of more than %d bytes", paramTo, maxTarget)
		}
		if i%2 == 1 {
			piece = parts[piece]
		}
		b.WriteString(piece)
	}
	return b.String(), nil
}

package interpolate

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/millrace-go/millrace/internal/strictjson"
	"github.com/millrace-go/millrace/internal/template"
)

// isPath reports whether a parameter contains names of files, judged by its name. A template without a step is not a
// file's name, but in other parameters it can be a text to find or write.
func isPath(pointer string) bool {
	if strings.HasPrefix(pointer, paramsPointer+"/renames/") {
		return true
	}
	tokens, _ := strictjson.SplitPointer(pointer)
	for len(tokens) > 0 && strings.Trim(tokens[len(tokens)-1], "0123456789") == "" {
		tokens = tokens[:len(tokens)-1]
	}
	if len(tokens) == 0 {
		return false
	}
	switch tokens[len(tokens)-1] {
	case "files", "paths", "path", "file_a", "file_b", "destination", "directory", "dir", "base":
		return true
	}
	return false
}

// braced is any text between double braces.
var braced = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{[^{}\r\n]*\}\}`) })

// mostForeign limits the pieces in double braces that are looked at: a hostile path could have millions.
const mostForeign = 1000

// foreign returns the pieces in double braces of a parsed text that are neither a reference, right or wrong, nor
// escaped, but at most mostForeign. It returns none for a text with so many problems that some are only counted.
func (t *Texts) foreign(text string, p parsed) []string {
	if n := len(p.problems); n > 0 && p.problems[n-1].Code == "too_many" {
		return nil
	}
	taken := make(map[int]bool)
	for _, ref := range p.text.Refs() {
		taken[ref.Offset] = true
	}
	for _, problem := range p.problems {
		taken[problem.Offset] = true
	}
	var found []string
	for _, at := range braced().FindAllStringIndex(text, len(taken)+mostForeign) {
		before := text[:at[0]]
		slashes := len(before) - len(strings.TrimRight(before, `\`))
		if !taken[at[0]] && slashes%2 == 0 && len(found) < mostForeign {
			found = append(found, text[at[0]:at[1]])
		}
	}
	return found
}

// reportForeign reports a piece in double braces that names no step, in a path. It would be the name of a file, which a
// condition or an overwrite would then use. It is a problem if it can only be meant as a reference: it is the whole
// path, and a part of it is a step or one of [template.Fields], or it begins like a reference. Otherwise files of that
// name may exist, and it returns false. In a longer path it may also have been escaped in a pipeline that was included
// in this one and has other steps. A variable's name has a separate warning, which the doors turn into an error.
func (t *Texts) reportForeign(s Step, pointer, source string, whole bool,
	add func(pointer, code, hint, format string, args ...any)) (wrong bool) {
	const isName = "raw in the step makes it the name of a file"
	parts := words(source)
	if len(parts) == 0 {
		return false
	}
	root, near := parts[0], ""
	if !slices.Contains(t.ids, root) {
		near = t.Nearest(root)
	}
	known := func(part string) bool {
		return slices.Contains(t.ids, part) ||
			slices.ContainsFunc(template.Fields(), func(f template.Field) bool { return f.Name == part })
	}
	switch {
	case whole && (ownRoot(root) || slices.Contains(t.ids, root) || slices.ContainsFunc(parts[1:], known)):
		switch {
		case near != "":
		case root == "vars":
			near = "declare it in the 'variables' of the pipeline"
		default:
			near = "write {{step.files[0]}} with the id of an earlier step"
		}
		add(pointer, CodeUnknownRef, near+"; "+isName, "step '%s': template '%s' names no step", s.ID, source)
		return true
	case root == "vars" && len(parts) > 1:
		add(pointer, CodeNoVariable, "",
			"step '%s': template '%s' names no variable, so it is the name of a file; declare it in the 'variables' of the pipeline; %s", s.ID, source, isName)
	case near != "":
		add(pointer, CodeNearTemplate, "", "step '%s': template '%s' names no step, so it is the name of a file; %s",
			s.ID,
			source, near)
	default:
		add(pointer, CodeNearTemplate, "", "step '%s': template '%s' names no step, so it is the name of a file; %s",
			s.ID,
			source, isName)
	}
	return false
}

// words returns the names in a reference.
func words(source string) []string {
	return strings.FieldsFunc(source, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	})
}

// ownRoot reports whether references can begin with a name, here or in similar products, wherever it is known: "steps",
// "step1", "outputs", and the other possible roots of a step.
func ownRoot(name string) bool {
	switch strings.TrimRight(name, "0123456789") {
	case "steps", "step", "outputs", "vars", "prev", "run":
		return true
	}
	return false
}

package template

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/synonyms"
)

// reference converts a candidate with a known root to a reference, or returns its problem. A problem that is only
// counted does not have a message.
func (c candidate) reference(text string, root Root, counted bool) (Ref, *Problem) {
	ref := Ref{Root: root.Name, Type: Any, Source: text[c.start:c.end], Offset: c.start}
	c.rest, ref.Raw = cutRaw(c.rest)
	wrong := func(code, hint, format string, args ...any) (Ref, *Problem) {
		if counted {
			return ref, &Problem{}
		}
		message := fmt.Sprintf("template '%s': %s", ref.Source, fmt.Sprintf(format, args...))
		return ref, &Problem{Source: ref.Source, Offset: c.start, Code: code, Message: message, Hint: hint}
	}
	if root.Missing != "" {
		return wrong("unknown_root", hintEscape, "%s", root.Missing)
	}
	if root.Data {
		path, err := parsePath(c.rest)
		if err != nil {
			return wrong("bad_path", hintPath, "%v", err)
		}
		if ref.Path = path; len(path) > 0 && path[0].Key != "" {
			ref.Field, ref.Path = path[0].Key, path[1:]
		}
		return ref, nil
	}
	rest := c.rest[1:]
	name, after := rest, ""
	if n := strings.IndexAny(rest, ".["); n >= 0 {
		name, after = rest[:n], rest[n:]
	}
	i := slices.IndexFunc(root.Fields, func(f Field) bool { return f.Name == name })
	if i >= 0 {
		ref.Field, ref.Type = name, root.Fields[i].Type
	}
	path, err := parsePath(after)
	switch open := ref.Type == Object || ref.Type == Any; {
	case counted && (i < 0 || !open && strings.HasPrefix(after, ".")):
		return wrong("unknown_field", "", "")
	case i < 0 || !open && strings.HasPrefix(after, "."):
		// The whole rest is quoted: in "{{find.files | join}}" no single part of it is the mistake.
		return wrong("unknown_field", root.fieldHint(rest), "unknown field '%s'", rest)
	case after == "":
	case open && err != nil:
		return wrong("bad_path", hintPath, "%v", err)
	case open:
		ref.Path, ref.Type = path, Any
	case ref.Type != List:
		return wrong("not_a_list", fmt.Sprintf("write {{%s.%s}}", c.base, name), "field '%s' is not a list", name)
	case errors.Is(err, errLarge):
		return wrong("bad_index", hintIndex, "%v", err)
	case err != nil || len(path) > 1 || !path[0].Indexed:
		return wrong("bad_index", hintIndex, "'%s' is not an index", after)
	default:
		ref.Path, ref.Type = path, String
	}
	return ref, nil
}

// cutRaw removes "|raw" from the end of the text after a root.
func cutRaw(rest string) (string, bool) {
	before, ok := strings.CutSuffix(rest, "raw")
	before, bar := strings.CutSuffix(strings.TrimRight(before, blanks), "|")
	if !ok || !bar {
		return rest, false
	}
	return strings.TrimRight(before, blanks), true
}

const (
	hintIndex = "an index is a whole number in brackets, from 0, or from -1 backwards: {{find.files[0]}}"
	hintPath  = `a path is made of keys and indices: .name, ["any name"], [0], or [-1] from the end; ` + hintEscape

	hintEscape = "a backslash before the braces makes them text"
)

// fieldHint suggests a replacement for an unknown field.
func (r Root) fieldHint(rest string) string {
	names := make([]string, len(r.Fields))
	for i, f := range r.Fields {
		names[i] = f.Name
	}
	field, _, _ := strings.Cut(rest, "[")
	// Blanks around a field are not part of its name.
	if near, ok := synonyms.Suggest(strings.Trim(field, blanks), names); ok {
		return fmt.Sprintf("did you mean '%s'?", near)
	}
	return "the fields are " + strings.Join(names, ", ") + "; " + hintEscape
}

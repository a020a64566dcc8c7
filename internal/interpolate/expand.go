package interpolate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/template"
)

// Error says which text could not be given its value.
type Error struct {
	Pointer string // of the parameter, below "params", or that of the path of the condition
	Text    string // as it was written
	Err     error
}

// Error names the parameter and the reason.
func (e *Error) Error() string { return fmt.Sprintf("parameter %s: %v", e.Pointer, e.Err) }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// Expand returns a copy of the step's action in which all templates have their values, which may be so many bytes
// together. In regular expressions, their replacements and scripts of sed the values are quoted, unless the template
// has raw. The error is an *Error, around an *actions.LimitError perhaps, or an error of package params.
func (t *Texts) Expand(values template.Values, most int64) (any, error) {
	if !t.Any() {
		return t.action.Clone(), nil
	}
	left := most
	action := t.action.Clone()
	mode := func(pointer, given string) string {
		text, ok := t.params[pointer]
		if !ok {
			return given
		}
		given, _ = text.ExpandString(values) // the error is that of the parameter
		return given
	}
	return t.action.Expand(t.bind, func(pointer, text string) (any, error) {
		found, ok := t.params[pointer]
		if !ok {
			return text, nil
		}
		v, err := syntaxOf(action, pointer, mode).expandIn(found, values)
		if left -= sizeOf(v); err == nil && left < 0 {
			err = &actions.LimitError{What: kinds.LimitExpand, Limit: most}
		}
		if err != nil {
			return nil, &Error{Pointer: pointer, Text: text, Err: err}
		}
		return v, nil
	})
}

// Empty returns a template in the list at the pointer that stands for a list of nothing, "" if there is none. A
// template that has no value is left for Expand to report.
func (t *Texts) Empty(pointer string, values template.Values) string {
	for _, at := range slices.Sorted(maps.Keys(t.params)) {
		text := t.params[at]
		if _, whole := text.Whole(); !whole || !strings.HasPrefix(at, pointer+"/") {
			continue
		}
		v, err := text.Expand(values)
		files, isFiles := v.([]string)
		list, isList := v.([]any)
		if err == nil && (isFiles || isList) && len(files)+len(list) == 0 {
			return text.Source()
		}
	}
	return ""
}

// sizeOf is about how much memory a template's value takes, in bytes. The texts of a list of files are those of a
// result.
func sizeOf(v any) int64 {
	const perElement = 16
	size := int64(perElement)
	switch v := v.(type) {
	case string:
		return int64(len(v))
	case []string:
		return perElement * int64(len(v))
	case []any:
		for _, elem := range v {
			size += sizeOf(elem)
		}
	case map[string]any:
		for key, elem := range v {
			size += int64(len(key)) + sizeOf(elem)
		}
	}
	return size
}

// Path returns the path of the condition, and whether there was a template in it. A path is one path: a list of files
// has to have one element, or else it would not be clear which of them is asked for. The error is an *Error.
func (t *Texts) Path(values template.Values) (path string, ok bool, err error) {
	if !t.path.IsTemplate() {
		return "", false, nil
	}
	v, err := t.path.Expand(func(ref template.Ref) (any, error) {
		v, err := values(ref)
		if files, ok := v.([]string); ok && len(ref.Path) == 0 && len(files) != 1 {
			return nil, fmt.Errorf("it is %d paths, and a condition asks for one, such as {{%s.files[0]}}", len(files),
				ref.Root)
		}
		return v, err
	})
	switch v := v.(type) {
	case string:
		path = v
	case []string:
		path = v[0]
	case nil, bool, []any, map[string]any:
		if err == nil {
			err = fmt.Errorf("template '%s': it is not a path", t.path.Source())
		}
	default:
		path, err = template.Format(v) // a number
	}
	if err != nil {
		return "", false, &Error{Pointer: pathPointer, Text: t.path.Source(), Err: err}
	}
	return path, true, nil
}

package interpolate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/template"
)

// Error reports a text whose templates could not be replaced by their values.
type Error struct {
	Pointer string // of the parameter, relative to "params", or of the condition's path
	Text    string // as written
	Err     error
}

// Error names the parameter and the reason.
func (e *Error) Error() string { return fmt.Sprintf("parameter %s: %v", e.Pointer, e.Err) }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// Expand returns a copy of the step's action in which all templates have their values, which may have at most most
// bytes together. In regular expressions, their replacements and sed scripts, the values are quoted, unless the
// template has raw. The error is an *Error, which can wrap an *actions.LimitError, or an error of package params.
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
		given, _ = text.ExpandString(values) // the error is reported for the parameter
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

// Empty returns a template whose value is an empty list, "" if there is none. The template is the list at the pointer,
// or an element of it. Empty skips a template without a value, because Expand will report it.
func (t *Texts) Empty(pointer string, values template.Values) string {
	for _, at := range slices.Sorted(maps.Keys(t.params)) {
		text := t.params[at]
		if _, whole := text.Whole(); !whole || !strings.HasPrefix(at+"/", pointer+"/") {
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

// sizeOf returns the approximate memory size of a template's value, in bytes. The strings of a list of files do not
// count, because they belong to a result.
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

// Path returns the path of the condition, and whether it has a template. A condition has only one path, so a list of
// files must have one element. The error is an *Error.
func (t *Texts) Path(values template.Values) (path string, ok bool, err error) {
	if !t.path.IsTemplate() {
		return "", false, nil
	}
	name := "" // the path, if the value is the files of a step
	one := func(ref template.Ref) (any, error) {
		v, err := values(ref)
		name = ""
		if files, ok := v.([]string); ok && len(ref.Path) == 0 {
			if len(files) != 1 {
				return nil, fmt.Errorf("it is %d paths, and a condition asks for one, such as {{%s.files[0]}}",
					len(files), ref.Root)
			}
			name = files[0]
		}
		return v, err
	}
	var v any
	if _, whole := t.path.Whole(); whole {
		v, err = t.path.Expand(one)
	} else {
		v, err = t.path.ExpandQuoted(one, func(value string) string { return cmp.Or(name, value) })
	}
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

package template

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/millrace-go/millrace/internal/strictjson"
)

// Error reports that a reference has no value, or an unusable value. It is only found when the value is requested.
type Error struct {
	Source string // the reference as written, with its braces; "" if the value is refused outside any reference
	Path   string // the longest prefix of the reference that has a value, such as "a.b[0]"; "" if its root has none
	// from [Resolve]: the JSON pointer of the text or the refused value, within the whole value; "" for the whole value
	Pointer string
	Reason  string
	Err     error // the cause, or nil
}

// Error names the place, the reference and the reason.
func (e *Error) Error() string {
	s := e.Reason
	if e.Source != "" {
		s = fmt.Sprintf("template '%s': %s", e.Source, e.Reason)
	}
	if e.Pointer != "" {
		s = e.Pointer + ": " + s
	}
	return s
}

// MarshalJSON gives the code and the message.
func (e *Error) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}{"INTERPOLATION_FAILED", e.Error()})
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Code returns "INTERPOLATION_FAILED".
func (e *Error) Code() string { return "INTERPOLATION_FAILED" }

// below prepends a key of the enclosing list or object to the pointer of the error.
func (e *Error) below(key string) *Error {
	e.Pointer = "/" + strictjson.EscapeToken(key) + e.Pointer
	return e
}

// of turns an error about the value of a reference into an error of the reference. It passes nil through.
func (e *Error) of(ref Ref) *Error {
	if e == nil {
		return nil
	}
	path := ref.path()
	if e.Pointer != "" {
		e.Reason += fmt.Sprintf(" (at %s of '%s')", e.Pointer, path)
	}
	e.Source, e.Path, e.Pointer = ref.Source, path, ""
	return e
}

// Values returns the value of the field of a reference, or of its root if the reference has no field. The caller
// follows the rest of the path. A []string means the files of a step, which [Join] puts into a longer text; any other
// list is a []any. The value is neither kept nor changed. An [*Error] without a Source, such as an error of [Member],
// gets the Source of the reference.
type Values func(Ref) (any, error)

// Expand replaces the references by their values. A text that is a whole reference becomes a value of the reference's
// type: a []string for the files of a step, a []any for other lists, a map[string]any for objects. The caller owns
// these. Any other value is returned unchanged. Any other text becomes a string. The error is an [*Error], which can
// wrap an error of values or [ErrTooLong]. Expand must not be used on a Text that had problems.
func (t Text) Expand(values Values) (any, error) {
	ref, ok := t.Whole()
	if !ok {
		return t.ExpandString(values)
	}
	v, err := ref.value(values)
	if err != nil {
		return nil, err
	}
	if files, ok := ref.files(v); ok {
		return append([]string{}, files...), nil
	}
	if kind, _ := kindOf(v); kind != list && kind != object {
		return v, nil
	}
	c := copier{left: MaxLen}
	v, failed := c.copy(v, 0)
	if failed != nil {
		return nil, failed.of(ref)
	}
	return v, nil
}

// ExpandString is Expand for places that only accept text: a whole reference becomes text too.
func (t Text) ExpandString(values Values) (string, error) { return t.ExpandQuoted(values, nil) }

// ExpandQuoted is ExpandString for a text in some syntax, such as a regular expression: each value, unless it is raw,
// is passed through quote, which must make it literal in that syntax. A nil quote changes nothing.
func (t Text) ExpandQuoted(values Values, quote func(string) string) (string, error) {
	if t.parts == nil {
		return t.source, nil
	}
	pieces, size := make([]string, len(t.parts)), 0 // joined at the end, so that a text that is too long is never built
	for i, p := range t.parts {
		piece := p.literal
		if p.ref >= 0 {
			ref := t.refs[p.ref]
			v, err := ref.value(values)
			if err != nil {
				return "", err
			}
			var failed *Error
			if files, ok := ref.files(v); ok {
				piece = Join(files)
			} else if piece, failed = textOf(v, MaxLen-size); failed != nil {
				return "", failed.of(ref)
			}
			if quote != nil && !ref.Raw {
				piece = quote(piece)
			}
		}
		if len(piece) > MaxLen-size {
			return "", tooLong()
		}
		pieces[i] = piece
		size += len(piece)
	}
	return strings.Join(pieces, ""), nil
}

// files returns the value of the reference if it is the files of a step.
func (r Ref) files(v any) ([]string, bool) {
	files, ok := v.([]string)
	return files, ok && len(r.Path) == 0
}

// path returns the reference in the form of [Error.Path].
func (r Ref) path() string { return r.name() + r.Path.String() }

// name returns the root and the field of the reference.
func (r Ref) name() string {
	if r.Field == "" {
		return r.Root
	}
	return r.Root + Path{{Key: r.Field}}.String()
}

// value returns the value of a reference and checks that it has the reference's type.
func (r Ref) value(values Values) (any, *Error) {
	v, err := values(r)
	if err != nil {
		if e, ok := err.(*Error); ok && e.Source == "" {
			return nil, &Error{Source: r.Source, Path: e.Path, Reason: e.Error(), Err: e.Err}
		}
		return nil, &Error{Source: r.Source, Reason: err.Error(), Err: err}
	}
	return r.follow(v)
}

// follow follows the path of the reference, starting at the value of its field.
func (r Ref) follow(v any) (any, *Error) {
	for n, part := range r.Path {
		inner, ok := part.of(v)
		if !ok {
			name := r.name() + r.Path[:n].String()
			reason, hint := part.missing(v, name)
			return nil, &Error{Source: r.Source, Path: name, Reason: reason + hint}
		}
		v = inner
	}
	switch {
	case r.Type.has(v):
		return v, nil
	case r.Type == Any:
		return nil, refused(v).of(r)
	}
	return nil, &Error{Source: r.Source, Path: r.path(), Reason: fmt.Sprintf("value is a %T, want a %s", v, r.Type)}
}

// has reports whether a value is of the type.
func (t Type) has(v any) bool {
	kind, rv := kindOf(v)
	switch t {
	case String:
		return kind == text
	case Int:
		return rv.CanInt() || rv.CanUint() || kind == number && rv.Kind() == reflect.String &&
			digits(strings.TrimPrefix(rv.String(), "-"))
	case List:
		return rv.IsValid() && rv.Type() == reflect.TypeFor[[]string]()
	case Bool:
		return kind == boolean
	case Number:
		return kind == number
	case Object:
		return kind == object
	}
	return kind != none
}

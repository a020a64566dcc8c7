package template

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// MaxLen is how long an expanded text may get, in bytes. It keeps a short text with many references to long lists from
// taking all memory.
const MaxLen = 64 << 20

// ErrTooLong says that an expanded text would be longer than [MaxLen].
var ErrTooLong = errors.New("expanded text is too long")

// IndexError says that a list does not have the element that a reference asks for. It can only be found when the step
// has run.
type IndexError struct {
	Ref Ref
	Len int // of the list
}

// Error names the reference, the step and what it has.
func (e *IndexError) Error() string {
	return fmt.Sprintf("template '%s': index %d is out of range: '%s' of step '%s' has %d elements",
		e.Ref.Source, e.Ref.Index, e.Ref.Field, e.Ref.Step, e.Len)
}

// ValueError says that the values function failed or gave something else than the field's type.
type ValueError struct {
	Ref Ref
	Err error
}

// Error names the reference and the reason.
func (e *ValueError) Error() string { return fmt.Sprintf("template '%s': %v", e.Ref.Source, e.Err) }

// Unwrap returns the reason.
func (e *ValueError) Unwrap() error { return e.Err }

// Values returns the value of the field that a reference names, of its type as [FieldType] says. For an indexed
// reference it is the whole list; the element is taken by the caller. The value is not kept and not changed.
type Values func(Ref) (any, error)

// Expand puts the values in. A text that is a whole reference gives an int, a string or a []string that belongs to
// the caller; any other gives a string. The error is the one of values or of its result in a *ValueError, an
// *IndexError, or ErrTooLong. Expand must not be used on a Text that had problems.
func (t Text) Expand(values Values) (any, error) {
	ref, ok := t.Whole()
	if !ok {
		return t.ExpandString(values)
	}
	v, err := valueOf(ref, values)
	if list, ok := v.([]string); ok && err == nil {
		return append([]string{}, list...), nil
	}
	return v, err
}

// ExpandString puts the values in where only text will do: it is Expand, but a whole reference becomes text too.
func (t Text) ExpandString(values Values) (string, error) {
	if t.parts == nil {
		return t.source, nil
	}
	var b strings.Builder
	for _, p := range t.parts {
		piece := p.literal
		if p.ref >= 0 {
			v, err := valueOf(t.refs[p.ref], values)
			if err != nil {
				return "", err
			}
			piece = format(v)
		}
		if len(piece) > MaxLen-b.Len() {
			return "", fmt.Errorf("%w: more than %d bytes", ErrTooLong, MaxLen)
		}
		b.WriteString(piece)
	}
	return b.String(), nil
}

func valueOf(ref Ref, values Values) (any, error) {
	v, err := values(ref)
	if err != nil {
		return nil, &ValueError{Ref: ref, Err: err}
	}
	want, _ := FieldType(ref.Field)
	ok := false
	switch want {
	case String:
		_, ok = v.(string)
	case Int:
		_, ok = v.(int)
	case List:
		_, ok = v.([]string)
	}
	if !ok {
		return nil, &ValueError{Ref: ref, Err: fmt.Errorf("value is a %T, want a %s", v, want)}
	}
	if !ref.Indexed {
		return v, nil
	}
	list := v.([]string)
	i := ref.Index
	if i < 0 {
		i += len(list)
	}
	if i < 0 || i >= len(list) {
		return nil, &IndexError{Ref: ref, Len: len(list)}
	}
	return list[i], nil
}

func format(v any) string {
	switch v := v.(type) {
	case int:
		return strconv.Itoa(v)
	case []string:
		return Join(v)
	case string:
		return v
	}
	return ""
}

// Join writes a list as text, its elements separated by commas. A comma or a backslash in an element gets a
// backslash, so that "a,b.txt" cannot be mistaken for two files.
func Join(list []string) string {
	if len(list) == 1 && !strings.ContainsAny(list[0], `,\`) {
		return list[0]
	}
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		for {
			n := strings.IndexAny(s, `,\`)
			if n < 0 {
				break
			}
			b.WriteString(s[:n])
			b.WriteByte('\\')
			b.WriteByte(s[n])
			s = s[n+1:]
		}
		b.WriteString(s)
	}
	return b.String()
}

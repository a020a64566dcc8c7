package form

import (
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/internal/strictjson"
)

// Append appends the object as compact JSON, in the order of the table. The error is that of a [Value].
func (f Fields) Append(dst []byte) ([]byte, error) {
	dst = append(dst, '{')
	start := len(dst)
	for i := range f {
		before := len(dst)
		if before > start {
			dst = append(dst, ',')
		}
		dst = append(strictjson.AppendQuoted(dst, f[i].Name), ':')
		var err error
		named := len(dst)
		if dst, err = f[i].append(dst); err != nil {
			return dst, err
		}
		if len(dst) == named {
			dst = dst[:before] // it is empty
		}
	}
	return append(dst, '}'), nil
}

// append appends the value, or nothing if it is left out.
func (f *Field) append(dst []byte) ([]byte, error) {
	switch to := f.To.(type) {
	case *string:
		if *to != "" || f.Always {
			dst = appendText(dst, *to)
		}
	case *[]string:
		for i, text := range *to {
			dst = appendText(append(dst, "[,"[min(i, 1)]), text)
		}
		if len(*to) > 0 {
			dst = append(dst, ']')
		}
	case *bool:
		if *to {
			dst = strconv.AppendBool(dst, f.Kind == Flag)
		}
	case **int:
		if *to != nil {
			dst = strconv.AppendInt(dst, int64(**to), 10)
		}
	case Value:
		return to.Append(dst)
	}
	return dst, nil
}

// appendText appends a string as encoding/json writes it, whose escapes have always been part of the digest of a
// pipeline.
func appendText(dst []byte, text string) []byte {
	if !strings.ContainsAny(text, "\u2028\u2029") {
		return strictjson.AppendQuoted(dst, text)
	}
	quoted := string(strictjson.AppendQuoted(nil, text))
	return append(dst, strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`).Replace(quoted)...)
}

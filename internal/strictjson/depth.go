package strictjson

import (
	"bytes"
	"fmt"
)

// CheckDepth returns a [*SyntaxError] around [ErrTooDeep] if lists and objects in data are nested more than most
// deep, for texts that another parser is going to read, and how many objects there are. It needs no memory, and does
// not care whether data is JSON otherwise. Zero, less, and more than 10,000 mean what they mean in [Limits].
func CheckDepth(data []byte, most int) (objects int, err error) {
	most = maxDepth(most)
	depth := 0
	for pos := 0; pos < len(data); pos++ {
		switch data[pos] {
		case '[', '{':
			if data[pos] == '{' {
				objects++
			}
			if depth++; depth > most {
				line, column := LineColumn(data, pos)
				return objects, &SyntaxError{Offset: pos, Line: line, Column: column, Msg: tooDeep(most), Err: ErrTooDeep}
			}
		case ']', '}':
			depth--
		case '"':
			pos = endOfText(data, pos)
		}
	}
	return objects, nil
}

// endOfText returns where the closing quote of the string is that starts at an offset, or the end of data.
func endOfText(data []byte, start int) int {
	for pos := start + 1; pos < len(data); pos++ {
		i := bytes.IndexAny(data[pos:], `"\\`)
		if i < 0 {
			break
		}
		if pos += i; data[pos] == '"' {
			return pos
		}
		pos++ // what is escaped
	}
	return len(data)
}

func tooDeep(most int) string {
	return fmt.Sprintf("lists and objects are nested more than %d deep", most)
}

// maxDepth returns the depth that a field stands for.
func maxDepth(field int) int {
	if field <= 0 {
		field = defaultDepth
	}
	return min(field, mostDepth)
}

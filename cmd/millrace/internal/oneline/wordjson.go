package oneline

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
)

// jsonPairs parses the pairs of a map in JSON.
func jsonPairs(data []byte) ([][]string, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	r := jsonReader{data: data, Decoder: json.NewDecoder(bytes.NewReader(data)), line: 1}
	r.UseNumber()
	top, err := r.value(0)
	if errors.Is(err, io.EOF) && top.line > 0 && len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return nil, r.entryAt(int(syntax.Offset)-1).wrong("%v", err)
	}
	if errors.Is(err, io.EOF) {
		return nil, r.entryAt(len(data)).wrong("the text ends too early")
	}
	if err != nil {
		return nil, err
	}
	if next := r.next(); next < len(data) {
		return nil, r.entryAt(next).wrong("a second value begins")
	}
	pairs, err := pairsOf(top)
	if err != nil {
		return nil, err
	}
	return pairs, strict(string(data))
}

// jsonReader reads values with their places.
type jsonReader struct {
	*json.Decoder
	data              []byte
	at, line, newline int // the newline is the offset of the line
}

// next returns the offset of the next value, or the size of the text.
func (r *jsonReader) next() int {
	at := int(r.InputOffset())
	return len(r.data) - len(bytes.TrimLeft(r.data[at:], " \t\r\n,:"))
}

// entryAt returns an empty entry at an offset, which must not be before that of the last call.
func (r *jsonReader) entryAt(offset int) entry {
	offset = min(max(offset, r.at), len(r.data))
	skipped := r.data[r.at:offset]
	if n := bytes.Count(skipped, []byte("\n")); n > 0 {
		r.line, r.newline = r.line+n, r.at+bytes.LastIndexByte(skipped, '\n')+1
	}
	r.at = offset
	return entry{line: r.line, column: offset - r.newline + 1}
}

// value reads a value. A map needs no deeper nesting than three.
func (r *jsonReader) value(depth int) (entry, error) {
	e := r.entryAt(r.next())
	token, err := r.Token()
	if err != nil {
		return e, err
	}
	switch t := token.(type) {
	case nil:
		e.kind = isNull
	case string:
		e.text = t
	case bool:
		e.text = strconv.FormatBool(t)
	case json.Number:
		e.text = t.String()
	case json.Delim:
		if e.kind = isList; t == '{' {
			e.kind = isObject
		}
		if depth == 3 {
			return e, e.wrong("a list or an object is not a text")
		}
		for r.More() {
			part, err := r.value(depth + 1)
			if err != nil {
				return e, err
			}
			e.parts = append(e.parts, part)
		}
		_, err = r.Token() // the end
	}
	return e, err
}

package yamlform

import (
	"bytes"
	"cmp"
	"fmt"
	"unicode/utf8"

	"github.com/millrace-go/millrace"
)

const (
	// MaxBytes is the size in bytes of the longest YAML text that [Decode] reads and [Encode] writes.
	MaxBytes = 1 << 20
	// maxDepth is the maximum nesting depth of lists and mappings.
	maxDepth = 100
	// maxValues is the maximum number of keys and values of a text.
	maxValues = 200_000
	// maxMarks is the maximum number of the marks of flow style and complex keys in a text: commas, [, {, and ? before
	// white space. They count everywhere, even within strings: the YAML parser keeps a whole flow collection in memory,
	// some 500 bytes for each mark, before it returns the first part.
	maxMarks = 80_000
)

// Decode reads a pipeline from YAML: it converts the text to JSON and decodes it with d. d is used as it is, with three
// exceptions. Its MaxBytes and MaxDepth apply to the YAML text. They can lower [MaxBytes] and the 100 levels, not raise
// them. Its Locate is replaced: lines and columns, both from 1, of problems and of the pipeline's warnings refer to the
// YAML text; columns count characters. An error is a *millrace.ValidationError, except the error for a wrong registry
// in d. Mistakes in the YAML itself are reported first, with codes that start with "yaml_": all of them, unless the
// text cannot be parsed. Only a text without such problems is decoded. Decode is safe for concurrent use.
func Decode(d millrace.Decoder, data []byte) (millrace.Pipeline, error) {
	depth := maxDepth
	if d.MaxDepth > 0 {
		depth = min(depth, d.MaxDepth)
	}
	if p := unreadable(data, min(cmp.Or(max(d.MaxBytes, 0), MaxBytes), MaxBytes)); p != nil {
		return millrace.Pipeline{}, &millrace.ValidationError{Problems: []millrace.Problem{*p}}
	}
	r := &reading{depth: depth}
	top := r.read(data)
	if problems := r.reported(); problems != nil {
		return millrace.Pipeline{}, &millrace.ValidationError{Problems: problems}
	}
	d.Locate = (&locator{top: top, members: make(map[*place]map[string]*place)}).locate
	d.MaxBytes, d.MaxDepth = mostJSON, -1 // both were checked in the YAML text
	return d.Decode(r.json)
}

// mostJSON is more than the JSON of any text needs: two bytes of YAML become at most ten bytes of JSON.
const mostJSON = 16 * MaxBytes

// unreadable returns the problem that prevents parsing a text at all, or nil.
func unreadable(data []byte, most int) *millrace.Problem {
	if len(data) > most {
		return wrongText(codeTooLarge, 0, 0, fmt.Sprintf("the text has %d bytes, more than %d", len(data), most),
			"split the pipeline, or send it as JSON")
	}
	if p := badCharacter(data); p != nil {
		return p
	}
	if n := marks(data); n > maxMarks {
		return wrongText(codeTooLarge, 0, 0,
			fmt.Sprintf("the text has %d commas and brackets, more than %d", n, maxMarks),
			"split the pipeline, or send it as JSON")
	}
	return nil
}

// badCharacter returns the problem of the first forbidden character of the text, or nil: invalid UTF-8, control
// characters, and characters that only some programs treat as the end of a line, so that line numbers would differ and
// strings would silently change.
func badCharacter(data []byte) *millrace.Problem {
	for at := 0; at < len(data); {
		r, size := utf8.DecodeRune(data[at:])
		message, hint := "", ""
		switch {
		case r == utf8.RuneError && size == 1:
			message, hint = fmt.Sprintf("byte 0x%02x is not UTF-8", data[at]), "save the text as UTF-8"
		case r == '\r' && (at+1 == len(data) || data[at+1] != '\n'):
			message, hint = "a carriage return without a line feed", `end lines with \n or \r\n; in a string write "\r"`
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', 0x7f <= r && r <= 0x9f, r == 0x2028, r == 0x2029,
			r == 0xfffe,
			r == 0xffff:
			message, hint = fmt.Sprintf("character U+%04X cannot stand in the text",
				r), fmt.Sprintf(`write "\u%04x" in double quotes`, r)
		}
		if message != "" {
			line := 1 + bytes.Count(data[:at], []byte{'\n'})
			column := 1 + utf8.RuneCount(data[bytes.LastIndexByte(data[:at], '\n')+1:at])
			return wrongText(codeSyntax, line, column, message, hint)
		}
		at += size
	}
	return nil
}

// marks counts the marks of a text, see maxMarks.
func marks(data []byte) int {
	n := bytes.Count(data, []byte{','}) + bytes.Count(data, []byte{'['}) + bytes.Count(data, []byte{'{'})
	for rest := data; ; {
		i := bytes.IndexByte(rest, '?')
		if i < 0 {
			return n
		}
		rest = rest[i+1:]
		if len(rest) == 0 || rest[0] <= ' ' {
			n++
		}
	}
}

// wrongText returns the only problem of a text that cannot be parsed. Line 0 means that it has no place.
func wrongText(code string, line, column int, message, hint string) *millrace.Problem {
	at := ""
	if line > 0 {
		at = fmt.Sprintf("line %d, column %d: ", line, column)
	}
	return &millrace.Problem{Code: code, Message: "Invalid pipeline YAML: " + at + message, Hint: hint, Line: line,
		Column: column}
}

package yamlform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/millrace-go/millrace"
)

// Encode writes a pipeline as YAML that [Decode] reads as an equal pipeline, with its fields in the order of the JSON
// form. A string has no quotes if it has only letters, digits and _./- and cannot be read as anything else. Other
// strings with several lines are blocks after |, and the rest is in double quotes. An error comes from the pipeline's
// MarshalJSON, or reports that the text is more than Decode reads.
func Encode(p millrace.Pipeline) ([]byte, error) {
	text, err := p.MarshalJSON()
	if err != nil {
		return nil, err
	}
	w := &writing{from: json.NewDecoder(bytes.NewReader(text))}
	w.from.UseNumber()
	if err := w.value(0, true); err != nil {
		return nil, fmt.Errorf("write pipeline %q as YAML: %w", p.Name(), err)
	}
	if problem := unreadable(w.out, MaxBytes); problem != nil {
		return nil, fmt.Errorf("write pipeline %q as YAML: %s", p.Name(), problem)
	}
	return w.out, nil
}

// writing is one pipeline being written, from its JSON.
type writing struct {
	from *json.Decoder
	out  []byte
}

// value writes the next value. begun means that a list or a mapping can start at this position: at the start of the
// text, or after a dash. Then indent is the column of the value, otherwise the column of its key.
func (w *writing) value(indent int, begun bool) error {
	token, err := w.from.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		return w.container(v, indent, begun)
	case string:
		w.space(begun)
		if !begun {
			indent += 2
		}
		w.text(v, indent)
	case json.Number:
		w.space(begun)
		w.out = append(append(w.out, v...), '\n')
	case bool:
		w.space(begun)
		w.out = fmt.Appendln(w.out, v)
	default:
		w.space(begun)
		w.out = append(w.out, "null\n"...)
	}
	return nil
}

func (w *writing) space(begun bool) {
	if !begun {
		w.out = append(w.out, ' ')
	}
}

// container writes a list or a mapping whose opening token has been read.
func (w *writing) container(open json.Delim, indent int, begun bool) error {
	if !w.from.More() {
		w.space(begun)
		w.out = append(w.out, byte(open), byte(open)+2, '\n') // ']' and '}' are two after '[' and '{'
		_, err := w.from.Token()
		return err
	}
	if !begun {
		w.out = append(w.out, '\n')
		indent += 2
	}
	for first := begun; w.from.More(); first = false {
		if !first {
			w.out = append(w.out, strings.Repeat(" ", indent)...)
		}
		if open == '[' {
			w.out = append(w.out, "- "...)
			if err := w.value(indent+2, true); err != nil {
				return err
			}
			continue
		}
		name, err := w.from.Token()
		if err != nil {
			return err
		}
		w.word(name.(string))
		w.out = append(w.out, ':')
		if err := w.value(indent, false); err != nil {
			return err
		}
	}
	_, err := w.from.Token()
	return err
}

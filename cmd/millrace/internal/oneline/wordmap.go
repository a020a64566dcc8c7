package oneline

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/millrace-go/millrace/internal/strictjson"
)

// entry is a value of a map in JSON or YAML.
type entry struct {
	kind         strictjson.Kind
	text         string // of a scalar
	line, column int
	parts        []entry // of a list its elements, of an object its names and values in turn
}

// wrong returns an error at the entry.
func (e entry) wrong(format string, args ...any) error {
	return fmt.Errorf("line %d, column %d: "+format, append([]any{e.line, e.column}, args...)...)
}

// jsonPairs parses the pairs of a map in JSON.
func jsonPairs(data []byte) ([][]string, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	most := max(len(data), 1)
	top, err := strictjson.Parse(data, strictjson.Limits{MaxBytes: most, MaxValues: most})
	if err != nil {
		return nil, err
	}
	return pairsOf(ofJSON(top, strictjson.NewLocator(data)))
}

// ofJSON returns the entry of a value in JSON.
func ofJSON(n *strictjson.Node, places *strictjson.Locator) entry {
	e := entry{kind: n.Kind, text: n.Text + n.Number}
	e.line, e.column = places.LineColumn(n.Offset)
	if n.Kind == strictjson.Bool {
		e.text = strconv.FormatBool(n.Bool)
	}
	for _, element := range n.Elems {
		e.parts = append(e.parts, ofJSON(element, places))
	}
	for _, m := range n.Members {
		name := entry{kind: strictjson.String, text: m.Name}
		name.line, name.column = places.LineColumn(m.NameOffset)
		e.parts = append(e.parts, name, ofJSON(m.Value, places))
	}
	return e
}

// yamlPairs parses the pairs of a map in YAML.
func yamlPairs(data []byte) ([][]string, error) {
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var doc, second yaml.Node
	if err := loader.Load(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if err := loader.Load(&second); err == nil {
		return nil, entry{line: second.Line, column: second.Column}.wrong("a second document begins")
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(doc.Content) != 1 {
		return nil, nil
	}
	top, err := ofYAML(doc.Content[0])
	if err != nil {
		return nil, err
	}
	return pairsOf(top)
}

// ofYAML returns the entry of a value in YAML. A scalar is the text as written, but null is no text.
func ofYAML(n *yaml.Node) (entry, error) {
	e := entry{kind: strictjson.String, text: n.Value, line: n.Line, column: n.Column}
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "" || n.Tag == "!!merge" || n.Style&yaml.TaggedStyle != 0:
		return e, e.wrong("anchors, aliases, merge keys and tags are not allowed")
	case n.Kind == yaml.MappingNode:
		e.kind = strictjson.Object
	case n.Kind == yaml.SequenceNode:
		e.kind = strictjson.Array
	case n.Tag == "!!null":
		e.kind = strictjson.Null
	}
	for _, c := range n.Content {
		part, err := ofYAML(c)
		if err != nil {
			return e, err
		}
		e.parts = append(e.parts, part)
	}
	return e, nil
}

// pairsOf returns the pairs of an object of old to new texts, or of a list of pairs or of {old_text, new_text}.
func pairsOf(top entry) ([][]string, error) {
	var pairs [][]string
	switch top.kind {
	case strictjson.Object:
		for i := 0; i+1 < len(top.parts); i += 2 {
			pair, err := texts(top.parts[i], top.parts[i+1])
			if err != nil {
				return nil, err
			}
			pairs = append(pairs, pair)
		}
		if err := unrepeated(top); err != nil {
			return nil, err
		}
		slices.SortFunc(pairs, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
		return pairs, nil
	case strictjson.Array:
		for _, e := range top.parts {
			pair, err := e.pair()
			if err != nil {
				return nil, err
			}
			pairs = append(pairs, pair)
		}
		return pairs, nil
	}
	return nil, top.wrong("write an object of old and new texts, or a list of pairs")
}

// pair returns the texts of an element of a list.
func (e entry) pair() ([]string, error) {
	switch {
	case e.kind == strictjson.Array && len(e.parts) == 2:
		return texts(e.parts[0], e.parts[1])
	case e.kind != strictjson.Object:
		return nil, e.wrong("an entry has an old and a new text")
	}
	if err := unrepeated(e); err != nil {
		return nil, err
	}
	var old, becomes *entry
	for i := 0; i+1 < len(e.parts); i += 2 {
		switch name := e.parts[i]; name.text {
		case "old_text":
			old = &e.parts[i+1]
		case "new_text":
			becomes = &e.parts[i+1]
		default:
			return nil, name.wrong("unknown name %q: an entry has old_text and new_text", name.text)
		}
	}
	if old == nil || becomes == nil {
		return nil, e.wrong("an entry has old_text and new_text")
	}
	return texts(*old, *becomes)
}

// texts returns two entries as a pair of texts.
func texts(pair ...entry) ([]string, error) {
	var both []string
	for _, e := range pair {
		switch e.kind {
		case strictjson.Null:
			return nil, e.wrong(`null is not a text: write "" for an empty text, or the word in quotes`)
		case strictjson.Array, strictjson.Object:
			return nil, e.wrong("a %v is not a text", e.kind)
		}
		both = append(both, e.text)
	}
	return both, nil
}

// unrepeated returns an error if a name of an object is repeated.
func unrepeated(object entry) error {
	seen := make(map[string]bool)
	for i := 0; i < len(object.parts); i += 2 {
		name := object.parts[i]
		if seen[name.text] {
			return name.wrong("%q stands here twice", name.text)
		}
		seen[name.text] = true
	}
	return nil
}

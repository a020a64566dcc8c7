package oneline

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"go.yaml.in/yaml/v4"
)

// The kinds of an entry.
const (
	isText = iota
	isNull
	isList
	isObject
)

// entry is a value of a map in JSON or YAML.
type entry struct {
	kind         int
	text         string // of a scalar
	line, column int
	parts        []entry // the elements of a list, or the names and values of an object in turn
}

// wrong returns an error at the entry.
func (e entry) wrong(format string, args ...any) error {
	return fmt.Errorf("line %d, column %d: "+format, append([]any{e.line, e.column}, args...)...)
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

// ofYAML returns the entry of a value in YAML. A scalar is the text as written, except for null.
func ofYAML(n *yaml.Node) (entry, error) {
	e := entry{text: n.Value, line: n.Line, column: n.Column}
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "" || n.Tag == "!!merge" || n.Style&yaml.TaggedStyle != 0:
		return e, e.wrong("anchors, aliases, merge keys and tags are not allowed")
	case n.Kind == yaml.MappingNode:
		e.kind = isObject
	case n.Kind == yaml.SequenceNode:
		e.kind = isList
	case n.Tag == "!!null":
		e.kind = isNull
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
	case isObject:
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
	case isList:
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
	case e.kind == isList && len(e.parts) == 2:
		return texts(e.parts[0], e.parts[1])
	case e.kind != isObject:
		return nil, e.wrong("an entry needs an old and a new text")
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
		return nil, e.wrong("an entry needs old_text and new_text")
	}
	return texts(*old, *becomes)
}

// texts returns two entries as a pair of texts.
func texts(pair ...entry) ([]string, error) {
	var both []string
	for _, e := range pair {
		switch e.kind {
		case isNull:
			return nil, e.wrong(`null is not a text: write "" for an empty text, or the word in quotes`)
		case isList:
			return nil, e.wrong("a list is not a text")
		case isObject:
			return nil, e.wrong("an object is not a text")
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

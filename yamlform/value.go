package yamlform

import (
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/millrace-go/millrace/actions"
)

// value writes a node as JSON, records its place, and reports its problems.
func (r *reading) value(n *yaml.Node, at *place, depth int) {
	at.line, at.column = int32(n.Line), int32(n.Column)
	if n.Anchor != "" {
		r.problem(n, codeAnchor, "an anchor is not taken: '&"+shown(n.Anchor)+"'",
			"write the value out where it is used, or text in quotes")
	}
	switch n.Kind {
	case yaml.AliasNode:
		r.alias(n)
	case yaml.ScalarNode:
		r.scalar(n)
	case yaml.MappingNode, yaml.SequenceNode:
		switch {
		case depth > r.depth:
			r.problem(n, codeTooDeep, tooDeep(r.depth), "")
		case !r.untagged(n), r.isFull(n):
		case n.Kind == yaml.SequenceNode:
			r.list(n, at, depth)
		default:
			r.mapping(n, at, depth)
		}
	default: // the problem has been reported already
		r.json = append(r.json, "null"...)
	}
}

// isFull counts the contents of a list or a mapping, and reports whether the text has too many. The first time it
// records a problem.
func (r *reading) isFull(n *yaml.Node) bool {
	full := r.values > maxValues
	if r.values += len(n.Content); r.values > maxValues && !full {
		r.problem(n, codeTooLarge, fmt.Sprintf("the text has more than %d keys and values", maxValues),
			"split the pipeline, or send it as JSON")
	}
	return r.values > maxValues
}

func (r *reading) list(n *yaml.Node, at *place, depth int) {
	at.kids = make([]place, len(n.Content))
	r.json = append(r.json, '[')
	for i, element := range n.Content {
		if i > 0 {
			r.json = append(r.json, ',')
		}
		length := len(r.pointer)
		r.pointer = strconv.AppendInt(append(r.pointer, '/'), int64(i), 10)
		r.value(element, &at.kids[i], depth+1)
		r.pointer = r.pointer[:length]
	}
	r.json = append(r.json, ']')
}

func (r *reading) mapping(n *yaml.Node, at *place, depth int) {
	if text := template(n); text != "" {
		r.problem(n, codeTemplate, text+" without quotes is a mapping in a mapping", `write "`+text+`"`)
		return
	}
	at.kids, at.object = make([]place, 0, len(n.Content)/2), true
	seen := make(map[string]int, min(len(n.Content)/2, 16)) // the lines of the keys
	r.json = append(r.json, '{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if !r.key(key, seen) {
			continue
		}
		if len(at.kids) > 0 {
			r.json = append(r.json, ',')
		}
		r.json = append(appendString(r.json, key.Value), ':')
		at.kids = append(at.kids, place{name: key.Value, nameLine: int32(key.Line), nameColumn: int32(key.Column)})
		length := len(r.pointer)
		r.pointer = append(append(r.pointer, '/'), actions.PointerToken(key.Value)...)
		r.value(n.Content[i+1], &at.kids[len(at.kids)-1], depth+1)
		r.pointer = r.pointer[:length]
	}
	r.json = append(r.json, '}')
}

// key reports whether a key can be the name of a member, and records a problem if it cannot.
func (r *reading) key(key *yaml.Node, seen map[string]int) bool {
	length := len(r.pointer)
	defer func() { r.pointer = r.pointer[:length] }()
	if key.Kind == yaml.ScalarNode {
		r.pointer = append(append(r.pointer, '/'), actions.PointerToken(key.Value)...)
	}
	switch {
	case key.Anchor != "":
		r.problem(key, codeAnchor, "an anchor is not taken: '&"+shown(key.Anchor)+"'",
			"leave it out, or write text in quotes")
	case key.Kind == yaml.AliasNode:
		r.alias(key)
	case key.Kind != yaml.ScalarNode:
		hint := ""
		if text := template(key); text != "" {
			hint = "write text that begins with { in quotes: \"" + text + "...\""
		}
		r.problem(key, codeKey, "a key must be text, got "+kindName(key), hint)
	case isPlain(key) && key.Value == "<<":
		r.problem(key, codeMerge, "a merge key << is not taken", `write the fields out; text is written "<<"`)
	case !r.untagged(key):
	case !isText(key):
		r.problem(key, codeKey, fmt.Sprintf("a key must be text, got %s '%s'", scalarName(key), shown(key.Value)),
			inQuotes(key.Value))
	case seen[key.Value] > 0:
		r.problem(key, codeRepeated,
			fmt.Sprintf("'%s' is there twice, first in line %d", shown(key.Value), seen[key.Value]),
			"leave one of them out")
	default:
		seen[key.Value] = key.Line
		return true
	}
	return false
}

func (r *reading) alias(n *yaml.Node) {
	r.problem(n, codeAlias, "an alias is not taken: '*"+shown(n.Value)+"'",
		"write the value out; text that begins with * is written in quotes")
}

// untagged reports whether a node has no tag, or its default tag; another tag is a problem.
func (r *reading) untagged(n *yaml.Node) bool {
	own := n.Tag == "!" || n.Style&yaml.TaggedStyle != 0
	switch {
	case !own:
		return true
	case n.Kind == yaml.MappingNode && n.Tag == "!!map", n.Kind == yaml.SequenceNode && n.Tag == "!!seq":
		return true
	case n.Kind == yaml.ScalarNode && n.Tag == "!!str":
		return true
	}
	r.problem(n, codeTag, "a tag is not taken: '"+shown(n.Tag)+"'",
		"leave it out; text that begins with ! is written in quotes")
	return false
}

// template returns a template without quotes, "" if the node is none: {{find.files}} is a mapping whose only key is a
// mapping.
func template(n *yaml.Node) string {
	inner := only(n)
	if inner == nil {
		return ""
	}
	name := only(inner)
	if name == nil || name.Kind != yaml.ScalarNode {
		return ""
	}
	return "{{" + shown(name.Value) + "}}"
}

// only returns the only key of a mapping in flow style, if it has no value.
func only(n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.MappingNode || n.Style&yaml.FlowStyle == 0 || len(n.Content) != 2 {
		return nil
	}
	if v := n.Content[1]; v.Kind != yaml.ScalarNode || v.Value != "" || !isPlain(v) {
		return nil
	}
	return n.Content[0]
}

func kindName(n *yaml.Node) string {
	if n.Kind == yaml.SequenceNode {
		return "a list"
	}
	return "a mapping"
}
